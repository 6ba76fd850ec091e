import { spawn } from 'node:child_process'
import { SVCD_WORDS } from '../../node/paths.ts'

/** How much of the end of what it prints is kept, in characters. */
const OUTPUT_CHARS = 4000

/**
 * Starts svcd with a channel. It has a process group of its own, so that Ctrl-C reaches only this program, and it ends
 * with this program, when the channel between the two closes.
 */
export function spawnSvcd(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const [program = '', ...words] = SVCD_WORDS
  const child = spawn(program, [...words, ...args], {
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS)
    })
  }
  const ended = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((done) => {
    child.once('close', (code, signal) => done({ code, signal }))
    // It could not be started, as where Node was replaced meanwhile.
    child.once('error', ({ message }) => {
      output += message
      done({ code: null, signal: null })
    })
  })
  const message = new Promise((done) => child.once('message', done))
  return {
    child,
    /** The end of what it has printed. */
    output: (): string => output,
    /** The first message that it sends, or undefined when it has ended before. */
    started: Promise.race([message, ended.then(() => undefined)]),
    /** Resolves when it has ended. */
    ended,
  }
}
