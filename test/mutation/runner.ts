import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Run } from './runnerChild.ts'

/** What became of a test file. */
export type Verdict = 'passed' | 'failed' | 'too slow'

/** Runs one test file after another. */
export interface Runner {
  readonly run: (run: Run, timeoutMs: number) => Promise<Verdict>
  readonly close: () => void
}

/** jest keeps the modules of every file that it ran. */
const RUNNER_BYTES_MAX = 1_000_000_000

/** A process for the runs, and a new one after each that failed, which may have left something behind. */
export function createRunner(): Runner {
  let child: ChildProcess | undefined
  const start = (): ChildProcess => {
    const started = fork(join(import.meta.dirname, 'runnerChild.ts'), {
      execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // What a test has started ends with it.
      detached: true,
    })
    // One that ends between two runs says nothing about the second.
    return started.once('exit', () => {
      if (child === started) child = undefined
    })
  }
  const close = (): void => {
    const pid = child?.pid
    child = undefined
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended on its own.
    }
  }
  const run = async (one: Run, timeoutMs: number): Promise<Verdict> => {
    const now = (child ??= start())
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const ended = new AbortController()
    const onExit = (): void => ended.abort()
    now.once('exit', onExit)
    try {
      const signal = AbortSignal.any([late.signal, ended.signal])
      now.send(one)
      const [{ passed, bytes }] = (await once(now, 'message', { signal })) as [{ passed: boolean; bytes: number }]
      if (!passed || bytes > RUNNER_BYTES_MAX) close()
      return passed ? 'passed' : 'failed'
    } catch {
      close()
      return late.signal.aborted ? 'too slow' : 'failed'
    } finally {
      clearTimeout(timer)
      now.removeListener('exit', onExit)
    }
  }
  return { run, close }
}
