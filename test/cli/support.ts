import { execFile, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempFolder } from '../support/tempFolder.ts'

const SVCD = fileURLToPath(new URL('../../src/cli/svcd.js', import.meta.url))

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

function collect(child: ReturnType<typeof execFile>, input: string, done: (ended: Ended) => void): void {
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (chunk: string) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk: string) => {
    stderr += chunk
  })
  child.once('close', (code) => done({ status: code ?? -1, stdout, stderr }))
  child.stdin?.end(input)
}

/** `svcd` with these arguments to its end; `input` is its stdin, which is no terminal. */
export const svcd = ({ folder, env }: Place, args: readonly string[], input = ''): Promise<Ended> =>
  new Promise((done) => {
    collect(
      execFile(process.execPath, [SVCD, ...args], { cwd: folder, env }, () => undefined),
      input,
      done,
    )
  })

/** A line as somebody would type it into a shell. */
export const typed = ({ folder, env }: Place, line: string): Promise<Ended> =>
  new Promise((done) => {
    const shell = `svcd() { "${process.execPath}" "${SVCD}" "$@"; }\n${line}`
    collect(
      execFile('/bin/bash', ['-c', shell], { cwd: folder, env }, () => undefined),
      '',
      done,
    )
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
  const child = spawn(process.execPath, [SVCD, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
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
