import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { genesisJson, homeFiles, type NodeIdentity, writeNodeKeys } from '../src/comet/home.ts'
import { CHAIN_ID } from './accounts.ts'
import type { Context } from './context.ts'
import { type Delay, startDelay } from './delay.ts'
import { networkGenesis } from './genesis.ts'
import { type AppKind, type BenchNode, startNode } from './node.ts'
import { runTxLoad, SUBJECTS, type TxLoad } from './transactions.ts'
import { until } from './until.ts'

const VALIDATORS = 4
/** From one validator to another; an answer takes as long again. */
const DELAY_MS = 25
const PEERS_MS_MAX = 60_000

/** The load that a goal is for. */
export const NETWORK_SATURATED = 'four validators, 50 ms between them, saturated'

const LOADS: readonly TxLoad[] = [
  [NETWORK_SATURATED, 'saturate', 4000],
  ['four validators, 50 ms between them, open loop, 300 tx/s', 'openLoop', 300],
]

// Each node connects to those after it, so that every pair has one connection, which is delayed.
const PAIRS = Array.from({ length: VALIDATORS }, (_, from) =>
  Array.from({ length: VALIDATORS - 1 - from }, (_unused, at) => ({ from, to: from + 1 + at })),
).flat()

// What `svcd init` writes for blocks of 100 ms. CometBFT's own 100 and 50 ms are more than the way takes.
const SETTINGS = {
  'p2p.pex': false,
  'p2p.flush_throttle_timeout': '5ms',
  'consensus.peer_gossip_sleep_duration': '10ms',
}

/** Homes of one chain whose validators they are. */
function makeHomes(
  folder: string,
  app: AppKind,
): readonly { readonly home: string; readonly identity: NodeIdentity }[] {
  const homes = Array.from({ length: VALIDATORS }, (_, at) => {
    const home = join(folder, String(at))
    return { home, identity: writeNodeKeys(home) }
  })
  const pubKeys = homes.map(({ identity }) => identity.pubKey)
  const genesis = genesisJson({
    chainId: CHAIN_ID,
    genesisTime: '2026-01-01T00:00:00Z',
    appState: app === 'svcd' ? networkGenesis(pubKeys) : {},
    validators: pubKeys.map((pubKey) => ({ pubKey, power: 10 })),
  })
  for (const { home } of homes) writeFileSync(homeFiles(home).genesis, genesis)
  return homes
}

async function connected(nodes: readonly BenchNode[]): Promise<void> {
  const isWhole = async (): Promise<boolean> =>
    (await Promise.all(nodes.map(({ rpc }) => rpc.peers()))).every((peers) => peers === VALIDATORS - 1)
  await until(isWhole, PEERS_MS_MAX, () => 'the validators did not all connect', 100)
}

async function startNetwork({ programs, newFolder, freePorts }: Context, app: AppKind) {
  const homes = makeHomes(newFolder(), app)
  const ports = await freePorts(2 * VALIDATORS)
  const ways = await freePorts(PAIRS.length)
  const portOf = (node: number, kind: 'rpc' | 'p2p'): number => ports[2 * node + (kind === 'rpc' ? 0 : 1)] as number
  const delays: Delay[] = []
  for (const [at, { to }] of PAIRS.entries())
    delays.push(await startDelay({ port: ways[at] as number }, { port: portOf(to, 'p2p') }, DELAY_MS))
  const started = await Promise.allSettled(
    homes.map(({ home }, node) => {
      const peers = PAIRS.flatMap(({ from, to }, at) =>
        from === node ? `${homes[to]?.identity.nodeId}@127.0.0.1:${ways[at]}` : [],
      )
      return startNode({
        programs,
        app,
        home,
        ports: [portOf(node, 'rpc'), portOf(node, 'p2p')],
        // The homes have their genesis.
        appState: () => ({}),
        settings: { ...SETTINGS, 'p2p.persistent_peers': peers.join(',') },
      })
    }),
  )
  const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()))
    for (const delay of delays) delay.close()
  }
  try {
    const failed = started.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    await connected(nodes)
    return { nodes: nodes as [BenchNode, ...BenchNode[]], stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Four validators of equal power on this machine, with DELAY_MS between any two of them each way, beside as many with
 * the kvstore. The load goes to one of them, which hands it on.
 */
export async function measureNetwork(context: Context): Promise<void> {
  for (let round = 0; round < context.rounds; round++) {
    for (const app of ['kvSocket', 'svcd'] as const) {
      const { nodes, stop } = await startNetwork(context, app)
      try {
        const [node, ...others] = nodes
        const pool = app === 'svcd' ? 'transfer' : 'kv'
        for (const [at, load] of LOADS.entries())
          await runTxLoad(context, node, load, { pool, fresh: at === 0, subject: SUBJECTS[app], round, others })
      } finally {
        await stop()
      }
    }
  }
}
