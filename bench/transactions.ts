import { countOk } from './codes.ts'
import type { Context } from './context.ts'
import { mixGenesis, peerGenesis, transferGenesis } from './genesis.ts'
import type { TxJob } from './load/job.ts'
import { openProposals, type PoolKind } from './load/pool.ts'
import { type AppKind, type BenchNode, type NodeOptions, startNode } from './node.ts'
import { sdkGenesis } from './peers.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import type { Sample } from './sample.ts'
import { until } from './until.ts'
import { meanOf } from './stats.ts'

const BLOCKS_MS_MAX = 30_000

/** The applications by the names in the table. */
export const SUBJECTS: Readonly<Record<AppKind, string>> = {
  kvInProcess: 'kvstore in process',
  kvSocket: 'Go kvstore, socket',
  verifier: 'signatures alone',
  svcd: 'svcd',
  sdk: 'cosmos-sdk',
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

/** Bank sends, delegations, withdrawals of delegations and votes in equal parts. */
export const MIX_LOAD: TxLoad = ['staking mix, saturated, 1,024 accounts', 'saturate', 8000]

const HEADROOM_TX_PER_SECOND = { saturate: 30_000, closedLoop: 20_000, blockLoop: 10_000, openLoop: 1000 } as const

// The chain of cosmos-sdk takes seconds to sign what it will not need.
const headroomOf = (pool: PoolKind, load: TxJob['load']): number =>
  Math.min(HEADROOM_TX_PER_SECOND[load], pool === 'sdkSend' || pool === 'sdkMix' ? 5000 : Infinity)

/** How one load is run: which transactions it sends, and its name in the table. */
interface TxRun {
  readonly pool: PoolKind
  readonly fresh: boolean
  readonly subject: string
  readonly round: number
  /** The other validators of the node's network: CPU is then the mean of all. */
  readonly others?: readonly BenchNode[]
}

/** How long a fresh node is under load before anything is measured, its CPU included: Node still compiles then. */
const COMPILING_MS = 2500

/** Runs one load on a node and counts what it came to, by the codes in its blocks. */
export async function runTxLoad(
  { generator, span, samples, say }: Context,
  node: BenchNode,
  [name, load, size]: TxLoad,
  { pool, fresh, subject, round, others = [] }: TxRun,
): Promise<Sample> {
  const target = { host: node.host, port: node.port }
  const job = { load, target, pool, size }
  const prepare = (ms: number, isFresh: boolean): Promise<void> =>
    generator.prepare({ pool, fresh: isFresh, size: Math.ceil((headroomOf(pool, load) * ms) / 1000) })
  if (fresh) {
    await prepare(COMPILING_MS, true)
    await generator.run({ ...job, fresh, warmUpMs: 0, measuredMs: COMPILING_MS })
  }
  await prepare(span.warmUpMs + span.measuredMs, false)
  const from = (await node.rpc.committedHeight()) + 1
  const meanMs = (program: keyof BenchNode['pids']): number =>
    meanOf([node, ...others].map(({ pids }) => cpuMsOf(pids[program])))
  const [appMs, cometMs] = [meanMs('app'), meanMs('comet')]
  const measured = await generator.run({ ...job, fresh: false, ...span })
  const per = (cpuMs: number): number => (cpuMs * 1000) / measured.committed
  const [appUs, cometUs] = [per(meanMs('app') - appMs), per(meanMs('comet') - cometMs)]
  const memory = memoryOf(node.pids.app ?? node.pids.comet)
  const ok = await countOk(node, from, await node.rpc.committedHeight())
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
  options: Pick<NodeOptions, 'appState' | 'settings' | 'nodeFlags' | 'goMaxProcs'>,
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

/** The two chains that are compared, and what each is sent: transfers, or the mix. */
export type PeerApp = 'svcd' | 'sdk'
export const PEER_POOLS = {
  send: { svcd: 'send', sdk: 'sdkSend' },
  mix: { svcd: 'mix', sdk: 'sdkMix' },
} as const satisfies Readonly<Record<string, Readonly<Record<PeerApp, PoolKind>>>>

/**
 * A fresh node of one of them, of PEER_SENDERS accounts. The mempool is rechecked, as both ship it: an account has
 * several transactions under way.
 */
export const withPeer = (
  context: Context,
  app: PeerApp,
  { load = 'send', ...options }: Pick<NodeOptions, 'nodeFlags' | 'goMaxProcs'> & { load?: keyof typeof PEER_POOLS },
  use: (node: BenchNode) => Promise<void>,
): Promise<void> => {
  const ours = { send: peerGenesis, mix: mixGenesis }[load]
  const appState = app === 'svcd' ? ours : (pubKey: string) => sdkGenesis(context.programs.sdk as string, pubKey, load)
  return withNode(context, app, { ...options, appState, settings: { 'mempool.recheck': true } }, use)
}

const PEER_LOADS: readonly TxLoad[] = TRANSFER_LOADS.map(([name, ...load]) => [`${name}, 1,024 accounts`, ...load])

/** Transfers of both chains on fresh nodes, side by side in each round. */
export async function measurePeers(context: Context, nodeFlags: readonly string[]): Promise<void> {
  for (let round = 0; round < context.rounds; round++) {
    for (const app of ['sdk', 'svcd'] as const) {
      await withPeer(context, app, app === 'svcd' ? { nodeFlags } : {}, async (node) => {
        for (const [at, load] of PEER_LOADS.entries()) {
          await runTxLoad(context, node, load, {
            pool: PEER_POOLS.send[app],
            fresh: at === 0,
            subject: SUBJECTS[app],
            round,
          })
        }
      })
    }
  }
}

/** Opens the proposals on which the mix of svcd votes. */
async function propose({ rpc }: BenchNode): Promise<void> {
  for (const tx of openProposals()) {
    const { code, log } = await rpc.broadcastTxSync(tx)
    if (code !== 0) throw new Error(`a proposal of the mix is refused: ${log}`)
  }
  const height = (await rpc.committedHeight()) + 2
  const isThere = async (): Promise<boolean> => (await rpc.committedHeight()) >= height
  await until(isThere, BLOCKS_MS_MAX, () => `the mix: no ${height} blocks`)
}

/** The mix of both chains on fresh nodes, side by side in each round. */
export async function measureMix(context: Context, nodeFlags: readonly string[]): Promise<void> {
  for (let round = 0; round < context.rounds; round++) {
    for (const app of context.programs.sdk === undefined ? (['svcd'] as const) : (['sdk', 'svcd'] as const)) {
      await withPeer(context, app, { load: 'mix', ...(app === 'svcd' && { nodeFlags }) }, async (node) => {
        // The genesis of cosmos-sdk has them.
        if (app === 'svcd') await propose(node)
        await runTxLoad(context, node, MIX_LOAD, {
          pool: PEER_POOLS.mix[app],
          fresh: true,
          subject: SUBJECTS[app],
          round,
        })
      })
    }
  }
}
