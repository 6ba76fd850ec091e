/**
 * Runs test files with jest for `createRunner`, one at a time, in a process that stays: most of the time of a short test
 * is jest's own start. A message names the file, the root and the environment.
 */
import { runCLI } from 'jest'

/** One run that is asked for. */
export interface Run {
  readonly root: string
  /** Absolute. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

process.on('message', ({ root, file, env }: Run) => {
  void (async () => {
    for (const name of ['SVCD_MUTANT', 'SVCD_REACHED']) delete process.env[name]
    Object.assign(process.env, env)
    const { results } = await runCLI(
      {
        _: [file],
        $0: 'jest',
        runTestsByPath: true,
        runInBand: true,
        reporters: [],
        silent: true,
        watchman: false,
        cacheDirectory: `${root}/.jest`,
      },
      [root],
    )
    process.send?.({ passed: results.success && results.numPassedTests > 0, bytes: process.memoryUsage.rss() })
  })()
})
process.once('disconnect', () => process.exit())
