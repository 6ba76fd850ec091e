/**
 * `make stress ARGS="…"`: a chain of 2,500 candidacies, quiet and then under one attack after the other. Ends with 1
 * when a limit is broken (docs/reliability.md). Without flags every attack, a quarter of an hour at most.
 *   --quick          shorter attacks, fewer proposals
 *   --short          what `make test` runs: four attacks, about a minute, judged by twice the limits
 *   --only a,b       some attacks, by name
 *   --json FILE      also writes the report there
 *   --stall          after the attacks, CometBFT stands still under one more, which has to be reported
 *   --write          puts the table into docs/reliability.md
 *   --addresses N    from how many addresses the strangers come; 8 unless given
 *   --block-time MS  300 unless given
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CHAIN_ID } from '../../bench/accounts.ts'
import { keepReports, summary } from '../support/campaign.ts'
import { COLLECTING } from '../support/garbage.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { type Attack, attacksOn } from './attacks.ts'
import { startChain } from './chain.ts'
import { type Met, startHonest } from './honest.ts'
import { BACK_MS_MAX, type Endured, slowerThan } from './limits.ts'
import { progressLine, stressReport, stressTable, writeReliability } from './report.ts'
import { watchResources } from './resources.ts'
import { endure, measureQuiet, type Setting, type Times, warmUp } from './run.ts'
import { namesIn, programArgs } from '../../tools/testing/programArgs.ts'

interface Plan {
  readonly times: Times
  readonly proposals: number
  /** All of them unless given. */
  readonly attacks?: readonly string[]
  readonly slack: number
}

const CANDIDACIES = 2500
/** A stall lasts for this many of the intervals from which on a block is slow, so that it is one on a busy machine too. */
const STALLED_INTERVALS = 3
/** The blocks that follow a stall: few, or the stall would be more than the p95 of all intervals. */
const BLOCKS_AFTER_STALL = 4
const WAITS = { firstMsMax: 30_000, memoryMsMax: 60_000 }
const PLANS: Readonly<Record<'full' | 'quick' | 'short', Plan>> = {
  full: {
    proposals: 200,
    slack: 1,
    times: { ...WAITS, warmUpMs: 1500, quietMs: 30_000, attackMs: 20_000, calmMs: 5000, calmMsMax: 60_000 },
  },
  quick: {
    proposals: 100,
    slack: 1,
    times: { ...WAITS, warmUpMs: 800, quietMs: 10_000, attackMs: 8000, calmMs: 3000, calmMsMax: 40_000 },
  },
  short: {
    // Five seconds hold about fifteen blocks: a p95 of so few is nearly the slowest.
    proposals: 20,
    slack: 2,
    attacks: ['rpc-lists', 'batch-lists', 'slow-readers', 'subscribers'],
    times: { ...WAITS, warmUpMs: 400, quietMs: 6000, attackMs: 5000, calmMs: 2000, calmMsMax: 60_000 },
  },
}

const { values } = programArgs({
  options: {
    quick: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    json: { type: 'string' },
    stall: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
    addresses: { type: 'string', default: '8' },
    'block-time': { type: 'string', default: '300' },
  },
})
const plan = PLANS[values.short ? 'short' : values.quick ? 'quick' : 'full']
const all = attacksOn(CHAIN_ID, CANDIDACIES)
const known = all.map(({ name }) => name)
const names = namesIn('--only', values.only ?? (plan.attacks ?? known).join(), known)
const attacks = all.filter(({ name }) => names.includes(name))

const say = (line: string): void => void process.stderr.write(`${line}\n`)
// What runs is ended at the exit of this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Endures an attack while CometBFT stands still for most of it, as it would if strangers could stall it. */
async function endureStalled(setting: Setting, quiet: Met, attack: Attack): Promise<Endured> {
  const { CometBFT: pid } = setting.chain.pids
  const { blockMs } = slowerThan(quiet, setting.slack)
  const stallMs = Math.max(setting.times.attackMs, STALLED_INTERVALS * blockMs)
  const attackMs = stallMs + BLOCKS_AFTER_STALL * quiet.blockP95Ms
  let goOn: Promise<unknown> | undefined
  const stall = (): void => {
    process.kill(pid, 'SIGSTOP')
    goOn = sleep(stallMs).then(() => process.kill(pid, 'SIGCONT'))
  }
  // Nobody is answered while it lasts.
  const stalled = { ...setting, times: { ...setting.times, attackMs, firstMsMax: 0 } }
  const row = await endure(stalled, quiet, { ...attack, name: 'stalled', title: 'a node that stands still' }, stall)
  await goOn
  return row
}

async function attackInTurn(setting: Setting): Promise<readonly Endured[]> {
  await warmUp(setting, attacks)
  const quiet = await measureQuiet(setting)
  say(
    `quiet: p95 of the block interval ${quiet.blockP95Ms.toFixed(0)} ms, of svc_transfer ${quiet.transferP95Ms.toFixed(0)} ms, ` +
      `of svc_getTransactions ${quiet.historyP95Ms.toFixed(0)} ms`,
  )
  const rows: Endured[] = []
  for (const attack of attacks) {
    const row = await endure(setting, quiet, attack)
    rows.push(row)
    say(progressLine(row, setting.slack))
    if (row.back * BACK_MS_MAX < setting.times.calmMsMax) continue
    say('the chain has not come back: what is left is not tried, as it would be compared with a chain that was quiet')
    break
  }
  if (values.stall) rows.push(await endureStalled(setting, quiet, attacks[0] as Attack))
  return rows
}

process.env['NODE_OPTIONS'] = COLLECTING
const folder = tempFolder('stress')
try {
  const chain = await startChain({
    home: folder.path,
    candidacies: CANDIDACIES,
    proposals: plan.proposals,
    blockTimeMs: Number(values['block-time']),
  })
  const [honest, resources] = [await startHonest(chain), watchResources(chain)]
  try {
    const { times, slack } = plan
    const rows = await attackInTurn({ chain, honest, resources, times, slack, addresses: Number(values.addresses) })
    const table = stressTable(rows, slack)
    const report = stressReport(rows, slack)
    process.stdout.write(`\n${table}\n\n${summary(report)}\n`)
    if (values.write) writeReliability(table)
    keepReports([report], values.json)
  } finally {
    resources.close()
    await honest.close()
    await chain.stop()
  }
} finally {
  folder.remove()
}
process.exit()
