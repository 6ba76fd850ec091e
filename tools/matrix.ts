/**
 * The same tests of the real node against every CometBFT line that is served: `node tools/matrix.ts [--json FILE]
 * [version …]`. Programs that are not there are built into .cache/cometbft/<version>. One line a version; what failed
 * stands above it and all that jest said in .cache/matrix/<version>.log. Exit 1 when anything failed. FILE then holds
 * the reports.
 */
import { spawn } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type CampaignReport, keepReports, summary } from '../test/support/campaign.ts'
import { COMET_VERSIONS, cometProgram } from './testing/cometVersions.ts'
import { jestTotals, type Totals } from './testing/totals.ts'

/** What a node of any line must do alike. */
const FILES: readonly string[] = [
  'test/e2e/interface.test.ts',
  'test/e2e/node.test.ts',
  'test/e2e/kill.test.ts',
  'test/e2e/light.test.ts',
  'test/e2e/hostile.test.ts',
  'test/e2e/joining.test.ts',
  'test/e2e/examples.test.ts',
]

/** Longest that the tests of one version may take, on a machine that is busy with other things. */
const RUN_MS_MAX = 1_800_000

const root = join(import.meta.dirname, '..')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Somebody sent a signal: no further version is begun. */
let isStopped = false

/** Runs the tests with one program; all that jest says goes to `log`. */
async function test(version: string, program: string, log: string): Promise<Totals> {
  const folder = mkdtempSync(join(tmpdir(), 'svcd-matrix-'))
  const report = join(folder, 'report.json')
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`
  const flags = [
    '--runInBand',
    '--forceExit',
    '--json',
    `--outputFile=${report}`,
    '--testLocationInResults',
    '--runTestsByPath',
    ...FILES,
  ]
  const child = spawn(process.execPath, [join(root, 'node_modules/jest/bin/jest.js'), ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
    env: { ...process.env, NODE_OPTIONS: options, SVCD_COMETBFT: program },
  })
  const stop = (signal: NodeJS.Signals): void => {
    isStopped = true
    child.kill(signal)
  }
  process.once('SIGTERM', stop).once('SIGINT', stop)
  const out = createWriteStream(log)
  for (const stream of [child.stdout, child.stderr]) stream.pipe(out, { end: false })
  try {
    await new Promise((done, failed) => child.once('error', failed).once('close', done))
    return jestTotals(root, version, FILES, existsSync(report) ? readFileSync(report, 'utf8') : undefined)
  } finally {
    process.removeListener('SIGTERM', stop).removeListener('SIGINT', stop)
    out.end()
    rmSync(folder, { recursive: true, force: true })
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
const { values, positionals: asked } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true })
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
