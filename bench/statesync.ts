import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { homeFiles, readNodeId } from '../src/comet/home.ts'
import { table } from '../tools/reference/markdown.ts'
import type { Context } from './context.ts'
import { accountsGenesis, delegationsGenesis } from './genesis.ts'
import { type BenchNode, type NodeOptions, startNode } from './node.ts'
import { peakMbOf } from './proc.ts'
import { number } from './report.ts'
import { medianOf } from './stats.ts'
import { until } from './until.ts'

/** How many of either a chain has. */
const COUNT = 1_000_000
/** What a chain has many of. `svcd start` takes a genesis file of at most 64 MiB: transactions of a pool make the others. */
const KINDS = {
  accounts: { ofGenesis: 900_000, genesis: accountsGenesis, pool: 'new' },
  delegations: { ofGenesis: 700_000, genesis: delegationsGenesis, pool: 'stake' },
} as const
const UNDER_WAY = 8000
const PIECE_MS = 4000
// A join waits for CometBFT's discovery, and the whole state is written to disk.
const ROUNDS_MAX = 2
// So high that the node makes none by itself. It offers what is in its folder.
const SNAPSHOT_INTERVAL = '1000000'
const WAIT_MS_MAX = 900_000
/** The least that CometBFT allows: it gathers the offers of its peers for so long. */
const DISCOVERY_S = 5
const MB = 1_000_000

/** What a chain takes until it has a snapshot of COUNT. */
interface Made {
  /** From the start of both programs to the first block, which writes the genesis. */
  readonly genesisMs: number
  readonly snapshotMs: number
  readonly snapshotMb: number
  /** The most memory of the application until then; reading the genesis takes the most. */
  readonly peakMb: number
}

/** What one fresh node takes to join. */
interface Joined {
  /** From the start of both programs until the node follows the chain, with the block that was the newest when the state was restored. */
  readonly joinMs: number
  /** From the offer of the snapshot to the restored state. */
  readonly restoreMs: number
  readonly peakMb: number
  /** From the start of the application on the restored state to its listening. */
  readonly startMs: number
  readonly diskMb: number
}

/** State sync of COUNT: the chain once, and each join. */
export interface SyncCost {
  readonly kind: keyof typeof KINDS
  readonly made: Made
  readonly joins: readonly Joined[]
}

interface LogLine {
  readonly msg: string
  readonly time: number
}

const SVCD = fileURLToPath(new URL('../src/cli/svcd.js', import.meta.url))
const run = promisify(execFile)

const appLogOf = (home: string): string => join(home, 'logs', 'app.log')

/** The line of an application's log that says this. Throws when it has not come in time. */
async function lineOf(home: string, msg: string): Promise<LogLine> {
  const find = (): LogLine | undefined => {
    const text = existsSync(appLogOf(home)) ? readFileSync(appLogOf(home), 'utf8') : ''
    return text
      .split('\n')
      .filter((line) => line.includes(msg) && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine)
      .find((line) => line.msg === msg)
  }
  return await until(find, WAIT_MS_MAX, () => `${home}: its log does not say ${msg}`, 50)
}

const flagsOf = (home: string): readonly string[] => [
  '--log-file',
  appLogOf(home),
  '--snapshot-interval',
  SNAPSHOT_INTERVAL,
]

/** Transactions until the chain has COUNT. */
async function grow({ generator }: Context, { host, port }: BenchNode, kind: SyncCost['kind']): Promise<void> {
  const { ofGenesis, pool } = KINDS[kind]
  const missing = COUNT - ofGenesis
  await generator.prepare({ pool, fresh: true, size: missing })
  for (let [made, fresh] = [0, true]; made < missing; fresh = false) {
    const job = { load: 'saturate', target: { host, port }, pool, fresh, size: UNDER_WAY } as const
    const { committed } = await generator.run({ ...job, warmUpMs: 0, measuredMs: PIECE_MS })
    if (committed === 0) throw new Error('no transaction came into a block')
    made += committed
  }
}

/** Makes a snapshot as an operator does, while the node runs. */
async function makeSnapshot(
  home: string,
): Promise<{ readonly height: number; readonly mb: number; readonly ms: number }> {
  const beginMs = performance.now()
  const { stdout } = await run(process.execPath, [SVCD, 'snapshot', 'create', '--home', home, '--json'], {
    timeout: WAIT_MS_MAX,
  })
  const { height, bytes } = JSON.parse(stdout) as { readonly height: number; readonly bytes: number }
  return { height, mb: bytes / MB, ms: performance.now() - beginMs }
}

/** A fresh home of the same chain that trusts the block of the snapshot. */
async function joinerOf(
  { newFolder, freePorts }: Context,
  options: NodeOptions,
  chain: BenchNode,
  snapshot: number,
): Promise<NodeOptions> {
  const [rpc = 0, p2p = 0] = await freePorts(2)
  const home = newFolder()
  const genesis = homeFiles(home).genesis
  mkdirSync(dirname(genesis), { recursive: true })
  copyFileSync(homeFiles(options.home).genesis, genesis)
  const { hash } = await chain.rpc.block(snapshot)
  const server = `http://${chain.host}:${chain.port}`
  return {
    ...options,
    home,
    ports: [rpc, p2p],
    appFlags: flagsOf(home),
    settings: {
      ...options.settings,
      'p2p.persistent_peers': `${readNodeId(options.home)}@127.0.0.1:${options.ports[1]}`,
      'statesync.enable': true,
      // The light client wants a witness beside its server.
      'statesync.rpc_servers': `${server},${server}`,
      'statesync.trust_height': snapshot,
      'statesync.trust_hash': hash,
      'statesync.trust_period': '1h',
      'statesync.discovery_time': `${DISCOVERY_S}s`,
    },
  }
}

async function joinChain(options: NodeOptions, chain: BenchNode): Promise<Joined> {
  const { home } = options
  const beginMs = performance.now()
  const node = await startNode(options)
  let joined: Omit<Joined, 'startMs'>
  try {
    // The state is restored; what the chain has by now comes as blocks.
    const head = await chain.rpc.committedHeight()
    const isThere = async (): Promise<boolean> => {
      const { latestHeight, catchingUp } = await node.rpc.status()
      return !catchingUp && latestHeight >= head
    }
    await until(isThere, WAIT_MS_MAX, () => 'the node that joins does not reach the head')
    const joinMs = performance.now() - beginMs
    const begun = await lineOf(home, 'a snapshot is being restored')
    const done = await lineOf(home, 'the state was restored from a snapshot')
    const diskMb = statSync(join(home, 'data', 'state.db')).size / MB
    joined = { joinMs, restoreMs: done.time - begun.time, peakMb: peakMbOf(node.pids.app as number), diskMb }
  } finally {
    await node.stop()
  }
  const again = await startNode(options)
  await again.stop()
  return { ...joined, startMs: again.appStartMs }
}

/** State sync over loopback, by CometBFT's own protocol: a chain of COUNT makes a snapshot, and fresh nodes join it. */
export async function measureStateSync(context: Context, kind: SyncCost['kind']): Promise<SyncCost> {
  const { ofGenesis, genesis } = KINDS[kind]
  const { programs, newFolder, freePorts, say } = context
  const [rpc = 0, p2p = 0] = await freePorts(2)
  const home = newFolder()
  const options: NodeOptions = {
    programs,
    app: 'svcd',
    home,
    ports: [rpc, p2p],
    appState: genesis(ofGenesis),
    appFlags: flagsOf(home),
    settings: { 'consensus.timeout_commit': '500ms' },
  }
  const beginMs = performance.now()
  const chain = await startNode(options)
  try {
    const genesisMs = performance.now() - beginMs
    await grow(context, chain, kind)
    const { height, mb, ms } = await makeSnapshot(home)
    const made = { genesisMs, snapshotMs: ms, snapshotMb: mb, peakMb: peakMbOf(chain.pids.app as number) }
    say(
      `${ofGenesis} ${kind} of genesis: first block after ${number(genesisMs / 1000, 1)} s; of ${COUNT} ` +
        `a snapshot of ${number(mb)} MB in ${number(ms / 1000, 1)} s; the application took ${made.peakMb} MB at most`,
    )
    const joins: Joined[] = []
    for (let round = 0; round < Math.min(context.rounds, ROUNDS_MAX); round++) {
      const joined = await joinChain(await joinerOf(context, options, chain, height), chain)
      joins.push(joined)
      say(
        `round ${round + 1}, state sync: at the head after ${number(joined.joinMs / 1000, 1)} s, restored in ` +
          `${number(joined.restoreMs / 1000, 1)} s with ${joined.peakMb} MB at most, opened in ${number(joined.startMs)} ms`,
      )
    }
    return { kind, made, joins }
  } finally {
    await chain.stop()
  }
}

/** A row for each kind: what was made once, and medians of the joins. */
export function stateSyncTable(costs: readonly SyncCost[]): string {
  const seconds = (ms: number): string => number(ms / 1000, 1)
  const head =
    'state sync of | in genesis | first block, s | peak RSS with all, MB | snapshot, s | its size, MB | ' +
    `at the head, s (${DISCOVERY_S} of them discovery) | restored in, s | its peak RSS, MB | start, s | disk, MB`
  return table(
    head.split(' | '),
    costs.map(({ kind, made, joins }) => {
      const of = (figure: keyof Joined): number => medianOf(joins.map((one) => one[figure]))
      return [
        `${number(COUNT)} ${kind}`,
        number(KINDS[kind].ofGenesis),
        seconds(made.genesisMs),
        number(made.peakMb),
        seconds(made.snapshotMs),
        number(made.snapshotMb),
        seconds(of('joinMs')),
        seconds(of('restoreMs')),
        number(of('peakMb')),
        seconds(of('startMs')),
        number(of('diskMb')),
      ]
    }),
  )
}
