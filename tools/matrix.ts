/**
 * The same tests of the real node against every CometBFT line that is served: `node tools/matrix.ts [--json FILE]
 * [version …]`. Programs that are not there are built into .cache/cometbft/<version>. One line a version; what failed
 * stands above it and all that jest said in .cache/matrix/<version>.log. Exit 1 when anything failed. FILE then holds
 * the reports.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type CampaignReport, keepReports, summary } from '../test/support/campaign.ts'
import { COMET_VERSIONS, cometProgram } from './testing/cometVersions.ts'
import { runJest } from './testing/jest.ts'
import type { Totals } from './testing/totals.ts'
import { programArgs } from './testing/programArgs.ts'

/** What a node of any line must do alike. */
const FILES: readonly string[] = [
  'test/e2e/interface.test.ts',
  'test/e2e/node.test.ts',
  'test/e2e/kill.test.ts',
  'test/e2e/light.test.ts',
  'test/e2e/hostile.test.ts',
  'test/e2e/joining.test.ts',
  'test/e2e/examples.test.ts',
  'test/e2e/create.test.ts',
]

const root = join(import.meta.dirname, '..')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Somebody sent a signal: no further version is begun. */
let isStopped = false
for (const signal of ['SIGTERM', 'SIGINT'])
  process.once(signal, () => {
    isStopped = true
  })

/** Runs the tests with one program; all that jest says goes to `log`. */
async function test(version: string, program: string, log: string): Promise<Totals> {
  const output = openSync(log, 'w')
  try {
    const env = { SVCD_COMETBFT: program }
    const args = ['--runInBand', '--forceExit']
    return await runJest({ root, name: version, files: FILES, args, pattern: undefined, output, env })
  } finally {
    closeSync(output)
  }
}

/** What the tests of one version came to. */
const reportOf = (version: string, { passed, failed, skipped }: Totals): CampaignReport => ({
  name: `CometBFT ${version}`,
  target: 'every test of a real node passes',
  ran: passed + failed.length,
  seed: undefined,
  result: `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  passed: failed.length === 0,
})

const logs = join(root, '.cache/matrix')
mkdirSync(logs, { recursive: true })
const { values, positionals: asked } = programArgs({ options: { json: { type: 'string' } }, allowPositionals: true })
const reports: CampaignReport[] = []
for (const version of asked.length > 0 ? asked : COMET_VERSIONS) {
  const log = join(logs, `${version}.log`)
  const totals = await cometProgram(version, say).then(
    (program) => test(version, program, log),
    (error: unknown) => ({ passed: 0, failed: [error instanceof Error ? error.message : String(error)], skipped: [] }),
  )
  for (const skip of totals.skipped) say(`SKIPPED ${skip}`)
  for (const failure of totals.failed) say(`FAILED ${failure}`)
  const report = reportOf(version, totals)
  say(summary(report))
  reports.push(report)
  if (isStopped) break
}
keepReports(reports, values.json)
