import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { UserError } from '../userError.ts'

/** The application as a process of its own. */
export interface AppProcess {
  readonly pid: number
  readonly stop: () => Promise<void>
  /** How it ended. `line` is the last it said to people. */
  readonly exited: Promise<{ readonly status: number; readonly line: string }>
}

const GRACE_MS = 10_000

/**
 * Starts `svcd start` and waits until it listens. It has a process group of its own, so that Ctrl-C reaches us alone,
 * and it ends when we do: the channel between us closes. Throws a UserError with its own words when it does not come
 * up.
 */
export async function startApp(args: readonly string[]): Promise<AppProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../svcd.js', import.meta.url)), 'start', ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000)
    })
  }
  const lastLine = (): string =>
    said
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^svcd: /, '') ?? ''
  const exited = new Promise<{ status: number; line: string }>((done) => {
    child.once('close', (code, signal) =>
      done({ status: code ?? 1, line: lastLine() || (signal === null ? '' : `ended by ${signal}`) }),
    )
  })
  const listening = new Promise<true>((done) => child.once('message', () => done(true)))
  if ((await Promise.race([listening, exited])) !== true)
    throw new UserError(`the application did not start: ${lastLine()}`)
  return {
    pid: child.pid as number,
    exited,
    stop: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
      await exited
      clearTimeout(timer)
    },
  }
}
