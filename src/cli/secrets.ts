import { readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { whyOpen } from '../keys/files.ts'
import { UserError } from './errors.ts'

// As a shell tells of a program that Ctrl-C ended.
const CTRL_C_STATUS = 130

/** Ends the program as Ctrl-C does. */
const endByCtrlC = (): never => process.exit(CTRL_C_STATUS)

/**
 * Asks on the terminal without showing what is typed, not even what is typed while the prompt is loaded. With `more`
 * the terminal shows nothing until the next prompt has its answer. Ctrl-C ends the program with status 130, as a signal
 * would; at its end the terminal is as it was.
 */
async function prompt(what: string, more: boolean): Promise<string> {
  process.stdin.setRawMode(true)
  const { default: password } = await import('@inquirer/password')
  // Ctrl-D at an empty line closes the input, and the prompt would wait for ever.
  const ended = new AbortController()
  const onKey = (
    _text: string | undefined,
    { ctrl, name }: { readonly ctrl?: boolean; readonly name?: string },
  ): void => {
    if (ctrl === true && name === 'd') ended.abort()
  }
  process.stdin.on('keypress', onKey)
  try {
    return await password({ message: what, toggleMask: false }, { output: process.stderr, signal: ended.signal })
  } catch (error) {
    const { name } = error as Error
    if (name === 'ExitPromptError') return endByCtrlC()
    if (name === 'AbortPromptError') throw new UserError(`the ${what} was not given`)
    throw error
  } finally {
    process.stdin.off('keypress', onKey)
    if (more) process.stdin.setRawMode(true)
  }
}

let lines: AsyncIterator<string> | undefined

/** The next line of a stdin that is no terminal; undefined at its end. */
async function nextLine(): Promise<string | undefined> {
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const { value, done } = await lines.next()
  return done === true ? undefined : (value as string)
}

/**
 * What a secret is, where it comes from, whether it is new (then it is asked for twice), and whether another is asked
 * for after it.
 */
export interface SecretRequest {
  /** `password of alice`. */
  readonly what: string
  readonly file: string | undefined
  readonly flag: string
  readonly isNew?: boolean
  readonly more?: boolean
}

/**
 * A secret from its file, else from a prompt on a terminal, else from the next line of stdin: never from an argument,
 * which every process of the machine may read. Throws a UserError when there is none, or when the two of a new one
 * differ.
 */
export async function readSecret({ what, file, flag, isNew = false, more = false }: SecretRequest): Promise<string> {
  if (file !== undefined) return firstLine(file, flag)
  if (process.stdin.isTTY) {
    const first = await prompt(what, isNew || more)
    if (first === '') throw new UserError(`the ${what} is empty`)
    if (isNew && (await prompt(`${what}, again`, more)) !== first) throw new UserError(`the two differ: the ${what}`)
    return first
  }
  const line = await nextLine()
  if (line === undefined || line === '')
    throw new UserError(`no ${what}: give ${flag} FILE, a line on stdin, or run this on a terminal`)
  return line
}

/** Asks for a yes on the terminal. Throws a UserError where there is none and `--yes` was not given. */
export async function confirm(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true
  if (!process.stdin.isTTY) throw new UserError(`${question} Add --yes to say so`)
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  reader.once('SIGINT', endByCtrlC)
  try {
    return await new Promise((done) => {
      reader.once('close', () => done(false)) // Ctrl-D
      reader.question(`${question} [y/N] `, (text) => done(/^y(?:es)?$/i.test(text.trim())))
    })
  } finally {
    reader.close()
  }
}

/** The password file of the flag, else of SVCD_PASSWORD_FILE. */
export const passwordFile = (given: string | undefined): string | undefined =>
  given ?? process.env['SVCD_PASSWORD_FILE']

function readSecretFile(path: string, flag: string): string {
  try {
    const found = statSync(path)
    // A pipe, such as a shell's <(…), is nobody else's.
    const open = found.isFile() ? whyOpen(path, found) : undefined
    if (open !== undefined) throw new UserError(`${flag}: ${open}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`${flag}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'no reason given'}`)
  }
}

/**
 * The first line of a file that holds a secret, as a password or a token. Throws a UserError that names the flag, and
 * never shows what the file holds: when it cannot be read, when its first line is empty, or when others than its owner
 * may read or write it.
 */
export function firstLine(path: string, flag: string): string {
  const text = readSecretFile(path, flag)
  const line = text.split(/\r?\n/, 1)[0] ?? ''
  if (line === '') throw new UserError(`${flag}: the first line of ${path} is empty`)
  return line
}
