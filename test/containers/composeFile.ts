import { Command } from 'commander'
import { COMMANDS } from '../../src/cli/main.ts'

/** The words of a YAML list in brackets, its brackets left out. */
const wordsOf = (list: string): readonly string[] =>
  [...list.matchAll(/'([^']*)'|([^\s,]+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

/** Every `command` of a compose file. */
export const commandsIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/^ +command: \[([^\]]*)\]$/gm)].map(([, list = '']) => wordsOf(list))

/** One service: what is set for it alone. */
export interface Service {
  readonly text: string
  readonly environment: Readonly<Record<string, string>>
}

/** The services of a compose file by their names, with what stands in them and not what they take from an anchor. */
export function servicesIn(text: string): ReadonlyMap<string, Service> {
  const [, body = ''] = /^services:\n([\s\S]*?)(?=^\S|$(?![\s\S]))/m.exec(text) ?? []
  const parts = body.split(/^ {2}([\w-]+):\n/m).slice(1)
  return new Map(
    parts.flatMap((name, at) => {
      if (at % 2 === 1) return []
      const own = parts[at + 1] ?? ''
      const pairs = own.matchAll(/\b((?:SVCD|CMT)[A-Z0-9_]*): (?:'([^']*)'|([^\s,}]+))/g)
      return [
        [
          name,
          {
            text: own,
            environment: Object.fromEntries([...pairs].map(([, key, quoted, plain]) => [key, quoted ?? plain])),
          },
        ],
      ]
    }),
  )
}

/**
 * The options that `svcd` reads from such a command. Throws when it would refuse them, as for a flag that it does not
 * have.
 */
export async function optionsOf(words: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const [program, name = '', ...args] = words
  const listed = COMMANDS.find((one) => one.name === name)
  if (program !== 'svcd' || listed === undefined) throw new Error(`no command of svcd: ${words.join(' ')}`)
  const command = new Command(name).exitOverride().configureOutput({ writeErr: () => undefined })
  const { configure } = await listed.load()
  configure(command)
  await command.action(() => undefined).parseAsync(args, { from: 'user' })
  return command.opts()
}
