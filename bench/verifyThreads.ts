import { readdirSync, readFileSync } from 'node:fs'
import { autoThreads } from '../src/node/signatures/pool.ts'
import { table } from '../tools/reference/markdown.ts'
import type { Context } from './context.ts'
import { transferGenesis } from './genesis.ts'
import { number } from './report.ts'
import type { Sample } from './sample.ts'
import { medianOf } from './stats.ts'
import { runTxLoad, SUBJECTS, TRANSFER_LOADS, type TxLoad, withNode } from './transactions.ts'

/** CPU time of one application for each transaction, in µs, by thread. */
export interface ThreadCost {
  readonly sample: Sample
  readonly threads: number
  /** The thread that serves CometBFT: what it takes bounds the rate. */
  readonly mainUs: number
  /** The threads that verify signatures, and all others, which are mostly V8's collectors. */
  readonly verifyUs: number
  readonly restUs: number
}

/** No threads, and as many as `auto` starts, or would on four cores. */
const SETTINGS = [0, autoThreads() || autoThreads(4)] as const
const ROUNDS_MAX = 3
const VARIABLE = 'SVCD_VERIFY_THREADS'
const NAME = 'signatures'

/** CPU time so far of the main thread, of those that verify, and of all others, in ms. Source: /proc/<pid>/task. */
function threadMsOf(pid: number): readonly [main: number, verify: number, rest: number] {
  const sums: [number, number, number] = [0, 0, 0]
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const of = (file: string): string => readFileSync(`/proc/${pid}/task/${task}/${file}`, 'utf8').trim()
    const group = task === String(pid) ? 0 : of('comm') === NAME ? 1 : 2
    sums[group] += Number(of('schedstat').split(' ')[0]) / 1e6
  }
  return sums
}

/** Saturated transfers on svcd, without and with threads that verify signatures ahead, side by side in each round. */
export async function measureVerifyThreads(context: Context): Promise<readonly ThreadCost[]> {
  const costs: ThreadCost[] = []
  const inherited = process.env[VARIABLE]
  for (let round = 0; round < Math.min(context.rounds, ROUNDS_MAX); round++) {
    for (const threads of SETTINGS) {
      process.env[VARIABLE] = String(threads) // the application inherits it
      await withNode(context, 'svcd', { appState: transferGenesis }, async (node) => {
        const pid = node.pids.app as number
        const before = threadMsOf(pid)
        const sample = await runTxLoad({ ...context, samples: [] }, node, TRANSFER_LOADS[0] as TxLoad, {
          pool: 'transfer',
          fresh: true,
          subject: `${SUBJECTS.svcd} ${threads}`,
          round,
        })
        const used = threadMsOf(pid).map((ms, at) => ms - (before[at] as number))
        const all = used.reduce((sum, ms) => sum + ms, 0)
        const [mainUs = 0, verifyUs = 0, restUs = 0] = used.map((ms) => (sample.appUs * ms) / all)
        costs.push({ sample, threads, mainUs, verifyUs, restUs })
        context.say(
          `its main thread ${mainUs.toFixed(1)} µs, verifying ${verifyUs.toFixed(1)}, others ${restUs.toFixed(1)}`,
        )
      })
    }
  }
  if (inherited === undefined) delete process.env[VARIABLE]
  else process.env[VARIABLE] = inherited
  return costs
}

/** A row for each setting: medians of the rounds. The last column is what the main thread alone would allow. */
export function verifyThreadTable(costs: readonly ThreadCost[]): string {
  const rows = SETTINGS.map((threads) => {
    const of = (figure: (cost: ThreadCost) => number): number =>
      medianOf(costs.filter((cost) => cost.threads === threads).map(figure))
    const mainUs = of((cost) => cost.mainUs)
    return [
      String(threads),
      number(of(({ sample }) => sample.perSecond)),
      number(mainUs),
      number(of((cost) => cost.verifyUs)),
      number(of((cost) => cost.restUs)),
      number(of(({ sample }) => sample.cometUs)),
      number(1e6 / mainUs),
    ]
  })
  const head =
    'verify threads | per second | app thread µs | verifying µs | other app µs | CometBFT µs | bound per second'
  return table(head.split(' | '), rows)
}
