import { readFileSync, statSync } from 'node:fs'
import { createInterface, type Key } from 'node:readline'
import { whyOpen } from '../keys/files.ts'
import { isTooShort, PASSWORD_LENGTH_MIN } from '../keys/password.ts'
import { UserError } from '../node/errors.ts'

/** Ends the program with the status with which a shell reports one that Ctrl-C ended. */
const endByCtrlC = (): never => process.exit(130)

/**
 * Asks on the terminal without showing what is typed, even while the prompt is still loading. With `more`, the terminal
 * keeps hiding input until the next prompt. Ctrl-C ends the program with status 130, as a signal would, and the
 * terminal is then as it was before.
 */
async function prompt(what: string, more: boolean): Promise<string> {
  process.stdin.setRawMode(true)
  const { default: password } = await import('@inquirer/password')
  // Ctrl-D at an empty line closes the input, and the prompt alone would wait forever.
  const ended = new AbortController()
  const onKey = (_text: string | undefined, { ctrl, name }: Key): void => {
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

/** Reads the next line of a stdin that is not a terminal; undefined at its end. */
async function nextLine(): Promise<string | undefined> {
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const { value, done } = await lines.next()
  return done === true ? undefined : (value as string)
}

/**
 * A secret to be read. `isNew`: it is the password of a new key file, which is asked for twice and is refused when it is too
 * short, unless `mayBeShort`. `more`: another secret is asked for after it. `isAlone`: its file holds nothing else.
 */
interface SecretRequest {
  /** What it is, such as `password of alice`. */
  readonly what: string
  readonly file: string | undefined
  readonly flag: string
  readonly isNew?: boolean
  readonly mayBeShort?: boolean | undefined
  readonly more?: boolean
  readonly isAlone?: boolean
}

/**
 * Reads a secret from its file, else from a prompt on a terminal, else from the next line of stdin. It never comes from
 * an argument, because every process of the machine can read those. Throws a UserError when there is none, or when a
 * new one is too short or was typed in two ways.
 */
export async function readSecret(request: SecretRequest): Promise<string> {
  const { what, file, flag, isNew = false, mayBeShort = false, more = false, isAlone = false } = request
  const checked = (secret: string): string => {
    if (!isNew || mayBeShort || !isTooShort(secret)) return secret
    throw new UserError(`the ${what}: expected at least ${PASSWORD_LENGTH_MIN} characters`)
  }
  if (file !== undefined) return checked(firstLine(file, flag, isAlone))
  if (process.stdin.isTTY) {
    const first = await prompt(what, isNew || more)
    if (first === '') throw new UserError(`the ${what} is empty`)
    checked(first)
    if (isNew && (await prompt(`${what}, again`, more)) !== first)
      throw new UserError(`the ${what} was not the same both times`)
    return first
  }
  const line = await nextLine()
  if (line === undefined || line === '')
    throw new UserError(
      `there is no ${what}: use ${flag} FILE, write it as a line to stdin, or run this command on a terminal`,
    )
  return checked(line)
}

/** Asks for a yes on the terminal, unless `--yes` was given. Throws a UserError where there is no terminal. */
export async function confirm(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true
  if (!process.stdin.isTTY) throw new UserError(`${question} Confirm with --yes`)
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

/**
 * Reads the lines of a file that holds secrets, such as passwords. Throws a UserError, which names the flag and never
 * shows the contents, when the file cannot be read, when its first line is empty, or when others than its owner can read
 * or write it. A pipe can be read only once.
 */
export function secretLines(path: string, flag: string): readonly [string, ...string[]] {
  let open: string | undefined
  let text = ''
  try {
    const found = statSync(path)
    // A pipe, such as a shell's <(…), cannot be read by others.
    open = found.isFile() ? whyOpen(path, found) : undefined
    if (open === undefined) text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError(`${flag}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'no reason given'}`)
  }
  if (open !== undefined) throw new UserError(`${flag}: ${open}`)
  const [line = '', ...others] = text.split(/\r?\n/)
  if (line === '') throw new UserError(`${flag}: the first line of ${path} is empty`)
  return [line, ...others]
}

/**
 * Reads the first line of a file that holds a secret, such as a password or a token. Throws what secretLines throws.
 * `isAlone`: also throws when text follows. The first 12 of 24 words may be a mnemonic too, of other accounts.
 */
export function firstLine(path: string, flag: string, isAlone = false): string {
  const [line, ...others] = secretLines(path, flag)
  if (isAlone && others.some((other) => other.trim() !== ''))
    throw new UserError(`${flag}: expected the secret on one line, but ${path} has more`)
  return line
}
