import { type ChildProcess, spawn } from 'node:child_process'
import { SVCD_WORDS } from '../../node/paths.ts'

/** How much of the end of what it prints is kept, in characters. */
const OUTPUT_CHARS = 4000

/** A running svcd. */
export interface SvcdProcess {
  readonly child: ChildProcess
  /** The end of what it has printed. */
  readonly output: () => string
  /** The first message that it sends, or undefined when it has ended before. */
  readonly started: Promise<unknown>
  /** Resolves when it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/**
 * Starts svcd with a channel. It has a process group of its own, so that Ctrl-C reaches only this program, and it ends
 * with this program, when the channel between the two closes.
 */
export function spawnSvcd(args: readonly string[], env: NodeJS.ProcessEnv = process.env): SvcdProcess {
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
  const ended: SvcdProcess['ended'] = new Promise((done) => {
    child.once('close', (code, signal) => done({ code, signal }))
  })
  const message = new Promise((done) => child.once('message', done))
  return { child, output: () => output, started: Promise.race([message, ended.then(() => undefined)]), ended }
}
