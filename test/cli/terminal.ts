import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { shellWord } from '../../src/cli/networkScripts.ts'
import { SVCD_WORDS } from '../../src/node/paths.ts'
import type { Ended, Place } from './support.ts'

/** A program that waits for something that is never typed is ended after this many ms, and the test shows what it said. */
const TERMINAL_MS_MAX = 300_000

/** What is typed, or done, once the terminal shows `seen`. */
export interface Typing {
  readonly seen: RegExp
  readonly type: string | (() => void)
}

/** `svcd` on a terminal of its own. */
export const onTerminal = (place: Place, args: readonly string[], typings: readonly Typing[]): Promise<Ended> =>
  commandOnTerminal(place, [...SVCD_WORDS, ...args], typings)

/**
 * A command on a terminal of its own, which `script` makes (of util-linux; Debian's bsdutils). Resolves with all that the
 * terminal showed as stdout. Each typing waits for what the one before brought.
 */
export function commandOnTerminal(
  { folder, env }: Place,
  command: readonly string[],
  typings: readonly Typing[],
): Promise<Ended> {
  const line = command.map(shellWord).join(' ')
  const shell = { cwd: folder, env: { ...env, TERM: 'xterm', NO_COLOR: '1' }, timeout: TERMINAL_MS_MAX }
  const child = spawn('script', ['-q', '-e', '-c', `exec ${line}`, '/dev/null'], shell)
  const left = [...typings]
  let [shown, sinceTyped] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
    sinceTyped += chunk
    const [next] = left
    if (next === undefined || !next.seen.test(stripVTControlCharacters(sinceTyped))) return
    left.shift()
    sinceTyped = ''
    if (typeof next.type === 'string') child.stdin.write(next.type)
    else next.type()
  })
  return new Promise((done, failed) => {
    child.once('error', failed)
    child.once('close', (code) => done({ status: code ?? -1, stdout: stripVTControlCharacters(shown), stderr: '' }))
  })
}
