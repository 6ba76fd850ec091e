/**
 * Runs test files with jest for `createRunner`, one at a time, in a process that stays: most of the time of a short test
 * is jest's own start. A message names the file, the root, the environment and the limit; runnerWatch.ts holds the run to it.
 */
import { Worker } from 'node:worker_threads'
import { runCLI } from 'jest'
import { cpuMs, watched } from './runnerWatch.ts'

export interface Run {
  readonly root: string
  /** Absolute. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  /** The CPU time that it may take. */
  readonly cpuMsMax: number
}

export interface Ran {
  readonly passed: boolean
  readonly cpuMs: number
  /** The memory of the process. */
  readonly bytes: number
}

const TEST_MS_MAX = 600_000 // A test that hangs is found by its idleness, long before.

const limit = watched()
new Worker(new URL('./runnerWatch.ts', import.meta.url), { workerData: limit.buffer, execArgv: [] }).unref()

process.on('message', ({ root, file, env, cpuMsMax }: Run) => {
  void (async () => {
    for (const name of ['SVCD_MUTANT', 'SVCD_REACHED']) delete process.env[name]
    Object.assign(process.env, env)
    const before = cpuMs()
    Atomics.store(limit, 0, Math.ceil(before + cpuMsMax))
    const { results } = await runCLI(
      {
        _: [file],
        $0: 'jest',
        runTestsByPath: true,
        runInBand: true,
        reporters: [],
        silent: true,
        watchman: false,
        testTimeout: TEST_MS_MAX,
        cacheDirectory: `${root}/.jest`,
      },
      [root],
    )
    Atomics.store(limit, 0, 0)
    const passed = results.success && results.numPassedTests > 0
    process.send?.({ passed, cpuMs: cpuMs() - before, bytes: process.memoryUsage.rss() } satisfies Ran)
  })()
})
process.once('disconnect', () => process.exit())
