import { execFile, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { expect } from '@jest/globals'
import { SVCD_WORDS } from '../../src/node/paths.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** How a command ended. */
export interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Where commands run: a folder and the settings that lead to one devnet. */
export interface Place {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly remove: () => void
}

/** A folder whose commands know nothing of this machine's own settings. `ports`: gateway, RPC, p2p. */
export function makePlace([gateway, rpc, p2p]: readonly number[]): Place {
  const { path: folder, remove } = tempFolder('command')
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    SVCD_HOME: join(folder, 'home'),
    SVCD_GATEWAY: `127.0.0.1:${gateway}`,
    SVCD_LISTEN: `127.0.0.1:${gateway}`,
    SVCD_RPC: `127.0.0.1:${rpc}`,
    SVCD_P2P: `127.0.0.1:${p2p}`,
    SVCD_NODE: `http://127.0.0.1:${rpc}`,
    SVCD_KEYSTORE: join(folder, 'keys'),
    SVCD_COMETBFT: process.env['SVCD_COMETBFT'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  }
  return { folder, env, remove }
}

const toItsEnd = ({ folder, env }: Place, command: readonly string[], input = ''): Promise<Ended> =>
  new Promise((done) => {
    const [program = '', ...args] = command
    const child = execFile(program, args, { cwd: folder, env }, (_error, stdout, stderr) =>
      done({ status: child.exitCode ?? -1, stdout, stderr }),
    )
    child.stdin?.end(input)
  })

/**
 * `svcd` with these arguments to its end; in a text they have spaces between them. `input` is its stdin, which is no
 * terminal.
 */
export const svcd = (place: Place, args: readonly string[] | string, input?: string): Promise<Ended> =>
  toItsEnd(place, [...SVCD_WORDS, ...(typeof args === 'string' ? args.split(' ') : args)], input)

/** A line as somebody would type it into a shell. */
export const typed = (place: Place, line: string): Promise<Ended> =>
  toItsEnd(place, ['/bin/bash', '-c', `svcd() { "${SVCD_WORDS.join('" "')}" "$@"; }\n${line}`])

/** Matches a command that ended with this status and said this on stderr. */
export const endedWith = (status: number, said: string | RegExp) => ({
  status,
  stderr: typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said),
})

/** A command that runs until it is stopped. */
export interface Running {
  readonly pid: number
  readonly said: () => string
  /** Its status, when it has ended. */
  readonly ended: Promise<number>
  /** Asks it to end. */
  readonly stop: () => Promise<number>
}

/** Starts `svcd` and waits until what it says fits `ready`. Rejects with what it said when it ends before. */
export function run({ folder, env }: Place, args: readonly string[], ready: RegExp): Promise<Running> {
  const [program = '', ...words] = SVCD_WORDS
  const child = spawn(program, [...words, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const ended = new Promise<number>((done) => child.once('close', (code) => done(code ?? -1)))
  const stop = (): Promise<number> => {
    child.kill('SIGTERM')
    return ended
  }
  return new Promise((done, failed) => {
    const look = (chunk: Buffer): void => {
      text += chunk.toString()
      if (ready.test(text)) done({ pid: child.pid as number, said: () => text, ended, stop })
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    void ended.then((status) => failed(new Error(`svcd ${args.join(' ')} ended with ${status}:\n${text}`)))
  })
}
