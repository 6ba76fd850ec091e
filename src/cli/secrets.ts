import { createInterface } from 'node:readline'
import { firstLine } from './remote.ts'
import { UserError } from './userError.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const ERASE = new Set(['\u0008', '\u007f'])

/** Asks on the terminal without showing what is typed. Ctrl-C ends the program with status 130, as a signal would. */
function prompt(question: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(`${question}: `)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  return new Promise((done) => {
    const typed: string[] = []
    const onData = (chunk: string): void => {
      for (const char of chunk) {
        if (char === CTRL_C) {
          stdin.setRawMode(false)
          stderr.write('\n')
          process.exit(130)
        }
        if (char === '\r' || char === '\n' || char === CTRL_D) {
          stdin.off('data', onData)
          stdin.setRawMode(false)
          stdin.pause()
          stderr.write('\n')
          return done(typed.join(''))
        }
        if (ERASE.has(char)) typed.pop()
        else if (char >= ' ') typed.push(char)
      }
    }
    stdin.on('data', onData)
    stdin.resume()
  })
}

let lines: AsyncIterator<string> | undefined

/** The next line of a stdin that is no terminal; undefined at its end. */
async function nextLine(): Promise<string | undefined> {
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const { value, done } = await lines.next()
  return done === true ? undefined : value as string
}

/** What a secret is, where it comes from, and whether it is new: then it is asked for twice. */
export interface SecretRequest {
  /** `password of alice`. */
  readonly what: string
  readonly file: string | undefined
  readonly flag: string
  readonly isNew?: boolean
}

/**
 * A secret from its file, else from a prompt on a terminal, else from the next line of stdin: never from an argument, which every process
 * of the machine may read. Throws a UserError when there is none, or when the two of a new one differ.
 */
export async function readSecret({ what, file, flag, isNew = false }: SecretRequest): Promise<string> {
  if (file !== undefined) return firstLine(file, flag)
  if (process.stdin.isTTY) {
    const first = await prompt(what)
    if (first === '') throw new UserError(`the ${what} is empty`)
    if (isNew && await prompt(`${what}, again`) !== first) throw new UserError(`the two differ: the ${what}`)
    return first
  }
  const line = await nextLine()
  if (line === undefined || line === '') throw new UserError(`no ${what}: give ${flag} FILE, a line on stdin, or run this on a terminal`)
  return line
}

/** Asks for a yes on the terminal. Throws a UserError where there is none and `--yes` was not given. */
export async function confirm(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true
  if (!process.stdin.isTTY) throw new UserError(`${question} Add --yes to say so`)
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await new Promise((done) => reader.question(`${question} [y/N] `, (text) => done(/^y(?:es)?$/i.test(text.trim()))))
  } finally {
    reader.close()
  }
}

/** The password file of the flag, else of SVCD_PASSWORD_FILE. */
export const passwordFile = (given: string | undefined): string | undefined => given ?? process.env['SVCD_PASSWORD_FILE']
