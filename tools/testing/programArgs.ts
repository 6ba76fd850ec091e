/** The command line of a program of this repository. */
import { readFileSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'

const HEAD = /\/\*\*\n(.*?)\n? \*\//s

/** The comment at the head of a program's file, which says what it does and takes. */
const helpOf = (path: string): string => (HEAD.exec(readFileSync(path, 'utf8'))?.[1] ?? '').replaceAll(/^ \* ?/gm, '')

type Parsed<C extends ParseArgsConfig> = ReturnType<typeof parseArgs<C>>

/**
 * Reads the flags of the program that runs. With `--help` it prints the comment at the head of the program's file and
 * ends; with a flag that the program does not know it ends with status 2 and one line.
 */
export function programArgs<C extends ParseArgsConfig>(config: C): Parsed<C> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${helpOf(process.argv[1] as string)}\n`)
    process.exit()
  }
  try {
    return parseArgs(config)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}. --help tells what there is.\n`)
    process.exit(2)
  }
}

/** The names in the list of a flag. Throws for one that is not known. */
export const namesIn = <N extends string>(flag: string, list: string, known: readonly N[]): readonly N[] =>
  list.split(',').map((name) => {
    const found = known.find((one) => one === name)
    if (found === undefined) throw new Error(`${flag}: expected some of ${known.join(', ')}, got ${name}`)
    return found
  })
