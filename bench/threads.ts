import { availableParallelism } from 'node:os'
import { GO_THREADS_MIN } from '../src/comet/goMaxProcs.ts'
import { table } from '../tools/reference/markdown.ts'
import type { Context } from './context.ts'
import { transferGenesis } from './genesis.ts'
import type { AppKind, BenchNode } from './node.ts'
import { number } from './report.ts'
import { type Figure, medianFigure, ratioOf, type Sample } from './sample.ts'
import { PEER_POOLS, runTxLoad, SUBJECTS, TRANSFER_LOADS, withNode, withPeer } from './transactions.ts'

/** Go's own choice, and what svcd sets where there are fewer cores. */
const GO_DEFAULT = availableParallelism()
const settings = [GO_DEFAULT, GO_THREADS_MIN] as const

// Under saturating load it makes no difference (docs/performance.md).
const LOADS = TRANSFER_LOADS.filter(([, kind, size]) => size === 64 || kind === 'openLoop')
const ROUNDS_MAX = 3

/** `GOMAXPROCS` of Go's choice and of svcd's, side by side. Nothing on machines where they are the same. */
export async function measureThreads(context: Context): Promise<readonly Sample[]> {
  if (GO_DEFAULT >= GO_THREADS_MIN) return []
  const samples: Sample[] = []
  const own = { ...context, samples }
  const apps: readonly AppKind[] = ['kvSocket', ...(context.programs.sdk ? ['sdk' as const] : []), 'svcd']
  for (let round = 0; round < Math.min(context.rounds, ROUNDS_MAX); round++) {
    for (const app of apps) {
      for (const goMaxProcs of settings) {
        const measure = async (node: BenchNode): Promise<void> => {
          const pool = app === 'svcd' || app === 'sdk' ? PEER_POOLS.send[app] : 'kv'
          for (const [at, load] of LOADS.entries())
            await runTxLoad(own, node, load, {
              pool,
              fresh: at === 0,
              subject: `${SUBJECTS[app]} ${goMaxProcs}`,
              round,
            })
        }
        if (app === 'svcd' || app === 'sdk') await withPeer(own, app, { goMaxProcs }, measure)
        else await withNode(own, app, { appState: transferGenesis, goMaxProcs }, measure)
      }
    }
  }
  return samples
}

/** A row for each load and application: both settings side by side. */
export function threadTable(samples: readonly Sample[]): string {
  const [few, many] = settings
  const pairs = LOADS.flatMap(([load]) => Object.values(SUBJECTS).map((subject) => [load, subject] as const))
  const rows = pairs
    .filter(([load, subject]) => samples.some((one) => one.load === load && one.subject === `${subject} ${few}`))
    .map(([load, subject]) => {
      const of = (figure: Figure, threads: number, digits = 0): string =>
        number(medianFigure(samples, load, `${subject} ${threads}`, figure), digits)
      const ratio = (figure: Figure): string =>
        number(ratioOf(samples, figure, [load, `${subject} ${many}`], [load, `${subject} ${few}`]), 2)
      return [
        load,
        subject,
        of('perSecond', few),
        of('perSecond', many),
        ratio('perSecond'),
        of('p99Ms', few, 1),
        of('p99Ms', many, 1),
        ratio('p99Ms'),
      ]
    })
  const pair = (figure: string): string => `${figure}, GOMAXPROCS=${few} | GOMAXPROCS=${many} | ratio`
  return table(`load | on | ${pair('per second')} | ${pair('p99 ms')}`.split(' | '), rows)
}
