import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeFiles, readNodeId } from '../../../src/comet/home.ts'
import { svcd } from './devnet.ts'
import type { CampaignReport } from '../../support/campaign.ts'
import { type NetworkNode, setCometConfig } from './network.ts'
import { freePorts } from './processes.ts'

/**
 * Gives every home of a network that was not started yet `count` more accounts and some parameters: the same genesis to
 * each.
 */
export function addAccounts(
  nodes: readonly NetworkNode[],
  count: number,
  params: Readonly<Record<string, number>> = {},
): void {
  const genesisOf = ({ home }: NetworkNode): string => join(home, 'config', 'genesis.json')
  const text = readFileSync(genesisOf(nodes[0] as NetworkNode), 'utf8')
  const genesis = JSON.parse(text) as { app_state: { accounts: object[]; params?: object } }
  genesis.app_state.params = { ...genesis.app_state.params, ...params }
  // Spread over all addresses, as hashes are.
  const spread = (at: bigint): bigint => BigInt.asUintN(160, at * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn)
  const address = (at: bigint): string => `0x${spread(at).toString(16).padStart(40, '0')}`
  for (let at = 1n; at <= BigInt(count); at++) {
    genesis.app_state.accounts.push({ address: address(at), balance: String(10n ** 18n + at) })
  }
  for (const node of nodes) writeFileSync(genesisOf(node), JSON.stringify(genesis))
}

/** Sets what `svcd start` of a home does beside the chain. */
export function setKeeping({ home }: NetworkNode, interval: number, keepBlocks = 0): void {
  const path = join(home, 'config', 'svcd.json')
  const config = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : {}
  writeFileSync(path, JSON.stringify({ ...config, snapshots: { interval, keep: 10 }, pruning: { keepBlocks } }))
}

/** What lets CometBFT find peers on one machine, and soon. */
export const JOINS_LOCALLY = {
  'statesync.discovery_time': '5s',
  'p2p.addr_book_strict': false,
  'p2p.allow_duplicate_ip': true,
}

/**
 * Makes the home of a node that is no validator and joins the chain by state sync from `peers`, or by all of its blocks.
 */
export async function makeJoiner(
  home: string,
  peers: readonly NetworkNode[],
  isStateSynced = true,
): Promise<NetworkNode> {
  const [rpcPort, p2pPort] = await freePorts(2)
  const from = peers[0] as NetworkNode
  const peerPort = ({ rpc }: NetworkNode): number => Number(new URL(rpc).port) - 1
  const made = await svcd([
    ...['init', '--home', home, '--genesis', join(from.home, 'config', 'genesis.json')],
    ...`--abci unix://abci.sock --rpc 127.0.0.1:${rpcPort} --p2p 127.0.0.1:${p2pPort} --block-time 200ms`.split(' '),
    ...['--peers', peers.map((peer) => `${readNodeId(peer.home)}@127.0.0.1:${peerPort(peer)}`).join(',')],
    ...(isStateSynced ? ['--state-sync', peers.map(({ rpc }) => rpc).join(',')] : []),
  ])
  if (made.status !== 0) throw new Error(`svcd init ended with ${made.status}: ${made.stderr}`)
  setCometConfig({ home }, JOINS_LOCALLY)
  for (const script of ['app.sh', 'cometbft.sh']) copyFileSync(join(from.home, script), join(home, script))
  return { home, owner: '', rpc: `http://127.0.0.1:${rpcPort}`, gateway: '' }
}

/** The trust period that `svcd init` wrote, in ms. Replaces it by an hour. */
export function prolongTrust(node: NetworkNode): number {
  const text = readFileSync(homeFiles(node.home).config, 'utf8')
  setCometConfig(node, { 'statesync.trust_period': '1h' })
  return Number(/^trust_period = "(\d+)ms"$/m.exec(text)?.[1])
}

/** What a liar does to the chunks of a snapshot. */
export type Lie = (chunks: readonly Buffer[]) => readonly (Buffer | undefined)[]

export const LIES = {
  flipped: (chunks: readonly Buffer[]) =>
    chunks.map((chunk, at) => {
      const flipped = Buffer.from(chunk)
      const place = (at * 7919) % flipped.length
      flipped.writeUInt8(flipped.readUInt8(place) ^ 1, place)
      return flipped
    }),
  cut: (chunks: readonly Buffer[]) => chunks.map((chunk) => chunk.subarray(0, chunk.length - 1)),
  reordered: (chunks: readonly Buffer[]) => [...chunks.slice(1), ...chunks.slice(0, 1)],
  missing: (chunks: readonly Buffer[]) => chunks.map(() => undefined),
} satisfies Readonly<Record<string, Lie>>

function spoil(folder: string, lie: Lie): void {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.chunk'))
    .sort()
    .map((name) => join(folder, name))
  for (const [at, told] of lie(files.map((file) => readFileSync(file))).entries()) {
    if (told === undefined) rmSync(files[at] as string)
    else writeFileSync(files[at] as string, told)
  }
}

/** Spoils every snapshot that a node makes from now on, a moment after it is whole. Ends with what it returns. */
export function lieAbout({ home }: NetworkNode, lie: Lie): () => void {
  const folder = join(home, 'data', 'snapshots')
  const spoilt = new Set<string>()
  const look = (): void => {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      if (name.startsWith('tmp-') || spoilt.has(name)) continue
      spoilt.add(name)
      spoil(join(folder, name), lie)
    }
  }
  const timer = setInterval(look, 20)
  look()
  return () => clearInterval(timer)
}

/** Makes CometBFT of a node that was not started yet log each chunk that a peer asks it for. */
export const logChunkRequests = (node: NetworkNode): void =>
  setCometConfig(node, { log_level: 'statesync:debug,*:info' })

/** How many chunks `joiner` has asked a node for, which logs them. */
export function chunksAskedOf({ home }: NetworkNode, joiner: NetworkNode): number {
  const log = readFileSync(join(home, 'logs', 'cometbft.out.log'), 'utf8')
  return log.match(new RegExp(`Received chunk request .*peer=${readNodeId(joiner.home)}`, 'g'))?.length ?? 0
}

export interface LogLine {
  readonly msg: string
  readonly sender?: string
  readonly ms?: number
}

export const appLogOf = ({ home }: NetworkNode): readonly LogLine[] =>
  readFileSync(join(home, 'logs', 'app.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine)

/** What a node that joined came to. `own`, `theirs`: app hashes by height, of it and of an honest node. */
export interface Joined {
  readonly lie: string
  readonly tookMs: number
  readonly limitMs: number
  /** Blocks from snapshot to snapshot. */
  readonly interval: number
  readonly own: ReadonlyMap<number, string>
  readonly theirs: ReadonlyMap<number, string>
  /** Who sent the chunks that were refused, and who lied. */
  readonly refusedFrom: readonly string[]
  readonly liar: string
  /** How many chunks the liar was asked for. */
  readonly asked: number
}

/**
 * True when the node that joined met the lie: it refused a chunk, or it asked for one that is missing, as there is nothing
 * to refuse then.
 */
export const hasMetLie = ({ lie, asked, refusedFrom }: Joined): boolean =>
  lie === 'missing' ? asked > 0 : refusedFrom.length > 0

const reportOf = (lie: string, limitMs: number): Pick<CampaignReport, 'name' | 'target' | 'seed'> => ({
  name: `a peer whose chunks are ${lie}`,
  target: `at the head within ${limitMs / 1000} s with the app hashes of the others, and only the liar is named`,
  seed: undefined,
})

/** Judges a join. `joins`: how many there were, as those before it did not meet the lie. */
export function judgeJoin(joined: Joined, joins = 1): CampaignReport {
  const { lie, tookMs, limitMs, interval, own, theirs, refusedFrom, liar, asked } = joined
  const [first = 0] = own.keys()
  const different = [...own].filter(([height, hash]) => theirs.has(height) && theirs.get(height) !== hash)
  const wronged = refusedFrom.filter((sender) => sender !== liar)
  const broken = [
    ...(tookMs > limitMs ? ['too late'] : []),
    ...(first === 0 || first % interval !== 0 ? [`begun at height ${first}, which is none of a snapshot`] : []),
    ...different.map(([height]) => `another app hash at height ${height}`),
    ...wronged.map((sender) => `a chunk of ${sender}, who is honest, was refused`),
  ]
  const result =
    `${(tookMs / 1000).toFixed(1)} s, ${(tookMs / limitMs).toFixed(2)} of the limit, from the snapshot of ${first}; ` +
    `chunks asked of the liar: ${asked}, chunks refused: ${refusedFrom.length}; ${own.size} app hashes compared`
  return {
    ...reportOf(lie, limitMs),
    ran: joins,
    result: broken.length === 0 ? result : `${broken.slice(0, 3).join('; ')} (${result})`,
    passed: broken.length === 0,
  }
}

export const failedJoin = (lie: string, limitMs: number, error: unknown): CampaignReport => ({
  ...reportOf(lie, limitMs),
  ran: 0,
  result: error instanceof Error ? error.message : String(error),
  passed: false,
})
