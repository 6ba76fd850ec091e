import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Ran, Run } from './runnerChild.ts'
import { LOOPS, WAITS } from './runnerWatch.ts'

/** What became of a test file. */
export type Verdict = 'passed' | 'failed' | 'too slow'

/** Runs one test file after another. */
export interface Runner {
  /** `cpuMs`: the CPU time that it took; 0 when its process ended. */
  readonly run: (run: Run) => Promise<{ readonly verdict: Verdict; readonly cpuMs: number }>
  readonly close: () => void
}

/** jest keeps the modules of every file that it ran. */
const RUNNER_BYTES_MAX = 1_000_000_000

/** Ends a child and what its tests have started, which are in its group. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

/** A process for the runs, and a new one after each that failed, which may have left something behind. */
export function createRunner(): Runner {
  let child: ChildProcess | undefined
  const start = (): ChildProcess => {
    const started = fork(join(import.meta.dirname, 'runnerChild.ts'), {
      execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    return started.once('exit', () => {
      endGroup(started)
      // One that ends between two runs says nothing about the second.
      if (child === started) child = undefined
    })
  }
  const close = (): void => {
    if (child !== undefined) endGroup(child)
    child = undefined
  }
  const run: Runner['run'] = async (one) => {
    const isFresh = child === undefined
    const now = (child ??= start())
    const over = new AbortController()
    const ended = once(now, 'exit', { signal: over.signal }).then(
      ([, signal]): Verdict => (signal === LOOPS || signal === WAITS ? 'too slow' : 'failed'),
    )
    const answered = once(now, 'message', { signal: over.signal }).then(([ran]) => ran as Ran)
    for (const either of [ended, answered]) either.catch(() => undefined) // Aborted, once the other has come.
    try {
      now.send(one)
      const first = await Promise.race([ended, answered])
      // What an earlier file left behind may have ended it.
      if (first === 'failed' && !isFresh) return run(one)
      if (typeof first === 'string') return { verdict: first, cpuMs: 0 }
      if (!first.passed || first.bytes > RUNNER_BYTES_MAX) close()
      return { verdict: first.passed ? 'passed' : 'failed', cpuMs: first.cpuMs }
    } finally {
      over.abort()
    }
  }
  return { run, close }
}
