import { setTimeout as sleep } from 'node:timers/promises'
import { codesOf } from './codes.ts'
import type { Context } from './context.ts'
import { mixGenesis, transferGenesis } from './genesis.ts'
import type { TxJob } from './load/job.ts'
import { openProposal, type PoolKind } from './load/pool.ts'
import { type AppKind, type BenchNode, type NodeOptions, startNode } from './node.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import type { Sample } from './sample.ts'

/** The applications by the names in the table. */
export const SUBJECTS: Readonly<Record<AppKind, string>> = {
  kvInProcess: 'kvstore in process',
  kvSocket: 'Go kvstore, socket',
  verifier: 'signatures alone',
  svcd: 'svcd',
}

/** A load of transactions: its name in the table, its kind and size. */
export type TxLoad = readonly [name: string, load: TxJob['load'], size: number]

/** The loads of transfers, in the order in which each fresh node gets them. */
export const TRANSFER_LOADS: readonly TxLoad[] = [
  ['saturated', 'saturate', 8000],
  ['closed loop, 64 senders', 'closedLoop', 64],
  ['closed loop, 256 senders', 'closedLoop', 256],
  ['open loop, 1,000 tx/s', 'openLoop', 1000],
]

/** Each sender waits for the block of its transaction before it sends the next, as the callers of a gateway do. */
export const BLOCK_LOAD: TxLoad = ['to the block, 64 senders', 'blockLoop', 64]

/** The mix: fewer under way, as a candidacy may have 20 open proposals. */
export const MIX_LOAD: TxLoad = ['mix, saturated', 'saturate', 2000]

const HEADROOM_TX_PER_SECOND = { saturate: 30_000, closedLoop: 20_000, blockLoop: 10_000, openLoop: 1000 } as const

/** Runs one load on a node and counts what it came to, by the codes in its blocks. */
export async function runTxLoad(
  { generator, span, samples, say }: Context,
  node: BenchNode,
  [name, load, size]: TxLoad,
  {
    pool,
    fresh,
    subject,
    round,
  }: { readonly pool: PoolKind; readonly fresh: boolean; readonly subject: string; readonly round: number },
): Promise<Sample> {
  const seconds = (span.warmUpMs + span.measuredMs) / 1000
  await generator.prepare({ pool, fresh, size: Math.ceil(HEADROOM_TX_PER_SECOND[load] * seconds) })
  const from = (await node.rpc.committedHeight()) + 1
  const [appMs, cometMs] = [cpuMsOf(node.pids.app), cpuMsOf(node.pids.comet)]
  const measured = await generator.run({
    load,
    target: { host: node.host, port: node.port },
    pool,
    fresh,
    size,
    ...span,
  })
  const per = (cpuMs: number): number => (cpuMs * 1000) / measured.committed
  const [appUs, cometUs] = [per(cpuMsOf(node.pids.app) - appMs), per(cpuMsOf(node.pids.comet) - cometMs)]
  const memory = memoryOf(node.pids.app ?? node.pids.comet)
  const { ok } = await codesOf(node, from, await node.rpc.committedHeight())
  const { perSecond, p50Ms, p99Ms, sent, blockTxs } = measured
  const sample = { load: name, subject, round, perSecond, p50Ms, p99Ms, appUs, cometUs, ...memory, failed: sent - ok }
  samples.push(sample)
  say(
    `round ${round + 1}, ${subject}, ${name}: ${Math.round(perSecond)} tx/s, p99 ${Math.round(p99Ms)} ms, ` +
      `${Math.round(blockTxs)} a block, ${Math.round(appUs)} + ${Math.round(cometUs)} µs CPU a transaction` +
      (sample.failed > 0 ? `, ${sample.failed} FAILED` : ''),
  )
  return sample
}

/** A fresh node of an application; ended and its home left after `use`. */
export async function withNode(
  { programs, newFolder, freePorts }: Context,
  app: AppKind,
  options: Pick<NodeOptions, 'appState' | 'settings' | 'nodeFlags'>,
  use: (node: BenchNode) => Promise<void>,
): Promise<void> {
  const [rpc = 0, p2p = 0] = await freePorts(2)
  const node = await startNode({ programs, app, home: newFolder(), ports: [rpc, p2p], ...options })
  try {
    await use(node)
  } finally {
    await node.stop()
  }
}

/** Transfers: each application's loads on a fresh node of its own, side by side in each round. */
export async function measureTransfers(
  context: Context,
  plan: readonly (readonly [AppKind, readonly TxLoad[]])[],
  nodeFlags: readonly string[],
): Promise<void> {
  for (let round = 0; round < context.rounds; round++) {
    for (const [app, loads] of plan) {
      await withNode(
        context,
        app,
        { appState: transferGenesis, ...(app === 'svcd' ? { nodeFlags } : {}) },
        async (node) => {
          const pool = app === 'svcd' || app === 'verifier' ? 'transfer' : 'kv'
          for (const [at, load] of loads.entries()) {
            await runTxLoad(context, node, load, { pool, fresh: at === 0, subject: SUBJECTS[app], round })
          }
        },
      )
    }
  }
}

/** The mix beside the kvstore. The mempool is rechecked, as owners have several transactions under way. */
export async function measureMix(context: Context): Promise<void> {
  const options = { appState: mixGenesis, settings: { 'mempool.recheck': true } }
  for (let round = 0; round < context.rounds; round++) {
    for (const app of ['kvSocket', 'svcd'] as const) {
      await withNode(context, app, options, async (node) => {
        if (app === 'svcd') {
          const { code, log } = await node.rpc.broadcastTxSync(openProposal())
          if (code !== 0) throw new Error(`the proposal of the mix is refused: ${log}`)
          for (const height = (await node.rpc.committedHeight()) + 2; (await node.rpc.committedHeight()) < height; )
            await sleep(10)
        }
        const pool = app === 'svcd' ? 'mix' : 'kv'
        await runTxLoad(context, node, MIX_LOAD, { pool, fresh: true, subject: SUBJECTS[app], round })
      })
    }
  }
}
