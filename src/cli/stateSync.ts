import { lookup } from 'node:dns/promises'
import { show } from '../base/json.ts'
import { isLoopback } from '../base/loopback.ts'
import type { StateSync } from '../comet/config.ts'
import { reasonOf } from '../comet/errors.ts'
import type { TrustedHeader } from '../comet/light.ts'
import { type NodeRpc, openNodeRpc } from '../comet/rpc.ts'
import { UserError } from '../node/errors.ts'
import { parseUrl } from './options.ts'
import { measureTrustPeriod, printPeriod } from './trust.ts'

const FLAG = '--state-sync'

/** A node that is asked. `at`: the addresses to which its name leads, each with the port. */
interface Server {
  readonly url: string
  readonly at: readonly string[]
  readonly rpc: NodeRpc
}

async function ask<T>({ url, rpc }: Server, question: (rpc: NodeRpc) => Promise<T>): Promise<T> {
  try {
    return await question(rpc)
  } catch (error) {
    throw new UserError(`${FLAG}: ${url}: ${reasonOf(error)}`)
  }
}

/** Resolves the name in the URL. `say` receives a warning when others can change what the node answers. */
async function resolve(url: string, say: (line: string) => void): Promise<readonly string[]> {
  const { protocol, hostname, port } = new URL(url)
  const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch((error: unknown) => {
    throw new UserError(`${FLAG}: ${url}: ${reasonOf(error)}`)
  })
  if (protocol === 'http:' && !found.every(({ address }) => isLoopback(address)))
    say(`${FLAG}: ${url} is not encrypted: whoever is on the way can answer in its place. Use https or a tunnel`)
  return found.map(({ address }) => `${address} port ${port || (protocol === 'http:' ? 80 : 443)}`)
}

/** Throws a UserError when two servers have an address or the id of their node in common. */
function assertDifferent(servers: readonly (Server & { readonly nodeId: string })[]): void {
  for (const [index, one] of servers.entries()) {
    for (const other of servers.slice(0, index)) {
      const shared = one.at.find((address) => other.at.includes(address))
      if (shared === undefined && one.nodeId !== other.nodeId) continue
      const by = shared === undefined ? `both are the node ${show(one.nodeId)}` : `both lead to ${shared}`
      throw new UserError(`${FLAG}: expected different nodes, but of ${other.url} and ${one.url} ${by}`)
    }
  }
}

/** Throws a UserError unless every server shows the block at this height under one hash, which is `hash` if it is given. */
async function findTrusted(servers: readonly Server[], height: number, hash: string | undefined) {
  const blocks = await Promise.all(servers.map((server) => ask(server, (rpc) => rpc.block(height))))
  const [first, wanted = first?.hash] = [blocks[0], hash]
  for (const [index, block] of blocks.entries()) {
    const url = servers[index]?.url
    if (!/^[0-9A-F]{64}$/.test(block.hash)) throw new UserError(`${FLAG}: ${url}: block ${height} has no hash there`)
    if (block.hash === wanted) continue
    throw new UserError(
      hash === undefined
        ? `${FLAG}: ${servers[0]?.url} and ${url} disagree on block ${height}`
        : `--trust-hash: expected ${block.hash}, the hash of block ${height} according to ${url}, got ${hash}`,
    )
  }
  return first as NonNullable<typeof first>
}

/** What the flags of `svcd init` say about state sync. `trustPeriodMs`: when it is left out, it is the longest safe one. */
export interface StateSyncOptions {
  readonly trusted: TrustedHeader | undefined
  readonly trustPeriodMs: number | undefined
  /** Receives warnings. */
  readonly say: (line: string) => void
}

async function choose(
  servers: readonly Server[],
  chainId: string,
  { trusted, trustPeriodMs: given, say }: StateSyncOptions,
): Promise<StateSync> {
  const statuses = await Promise.all(servers.map((server) => ask(server, (rpc) => rpc.status())))
  for (const [index, { chainId: other }] of statuses.entries()) {
    if (other !== chainId)
      throw new UserError(
        `${FLAG}: ${servers[index]?.url}: expected a node of the chain ${chainId}, got one of ${show(other)}`,
      )
  }
  assertDifferent(servers.map((server, index) => ({ ...server, nodeId: statuses[index]?.nodeId ?? '' })))
  const heads = statuses.map(({ latestHeight }) => latestHeight)
  const lowest = Math.min(...heads)
  // Two blocks back, so that every server has the block.
  const recent = Math.max(1, lowest - 2)
  const { height = recent, hash } = trusted ?? {}
  const block = await findTrusted(servers, height, hash)
  if (hash === undefined)
    say(`trusting block ${height} ${block.hash} because these servers say so. Compare it with somebody whom you trust`)
  const longest = await measureTrustPeriod(servers.map(({ rpc }) => rpc))
  if (given !== undefined && given > longest)
    throw new UserError(
      `--trust-period: expected at most ${printPeriod(longest)}, two thirds of the time in which validators of this chain ` +
        `can still be punished, got ${printPeriod(given)}`,
    )
  const trustPeriodMs = given ?? longest
  const newestMs = Date.now() - Math.max(...statuses.map(({ latestTimeMs }) => latestTimeMs))
  if (newestMs > Math.max(trustPeriodMs, SHORT_MS))
    throw new UserError(
      `${FLAG}: by the clock of this machine, the newest block of these servers is ${printPeriod(newestMs)} old, and a header ` +
        `of this chain can be trusted for ${printPeriod(trustPeriodMs)}. Set the clock, or wait until the chain makes blocks`,
    )
  const ageMs = Date.now() - block.timeMs
  if (trusted !== undefined && ageMs > trustPeriodMs)
    throw new UserError(
      `--trust-height: block ${height} is ${printPeriod(ageMs)} old, and a header of this chain can be trusted for ` +
        `${printPeriod(trustPeriodMs)}. Name a newer one`,
    )
  if (trusted === undefined && ageMs > Math.max(trustPeriodMs, SHORT_MS))
    throw new UserError(
      `${FLAG}: ${servers[heads.indexOf(lowest)]?.url} is at block ${lowest}: block ${height} is ${printPeriod(ageMs)} old, and ` +
        `a header of this chain can be trusted for ${printPeriod(trustPeriodMs)}. Name a node that is not behind, or wait`,
    )
  if (trustPeriodMs < SHORT_MS)
    say(
      `a header of this chain can be trusted for ${printPeriod(trustPeriodMs)} only, because its unstake_wait_period is ` +
        'short. State sync may take longer, and then fails',
    )
  return { servers: servers.map(({ url }) => url), trustHeight: height, trustHash: block.hash, trustPeriodMs }
}

/** A state sync may well take as long as this. */
const SHORT_MS = 5 * 60_000

/**
 * Prepares the state sync of a new node of `chainId`: chooses the block that it trusts first, which is `trusted` or a
 * recent one that all servers show under one hash, and for how long it trusts headers. `text`: the RPC addresses of at
 * least two nodes, separated by commas. Throws a UserError when there are fewer, when two are the same, when one does
 * not answer or is of another chain, when they disagree, or when a flag asks for more trust than is safe.
 */
export async function stateSyncFrom(text: string, chainId: string, options: StateSyncOptions): Promise<StateSync> {
  const urls = text.split(',').map((one) => parseUrl(one, FLAG))
  if (urls.length < 2)
    throw new UserError(
      `${FLAG}: expected the RPC addresses of at least two nodes, which must agree, got ${urls.length}`,
    )
  const resolved = await Promise.all(urls.map((url) => resolve(url, options.say)))
  const servers = urls.map((url, index) => ({ url, at: resolved[index] ?? [], rpc: openNodeRpc(url) }))
  try {
    return await choose(servers, chainId, options)
  } finally {
    for (const { rpc } of servers) rpc.close()
  }
}
