import { setTimeout as sleep } from 'node:timers/promises'
import DataLoader from 'dataloader'
import { fromUtf8 } from '../base/bytes.ts'
import { BATCH_PATHS_MAX, encodePaths, type PathAnswer } from '../codec/queryBatch.ts'
import { isNodeError } from '../comet/errors.ts'
import type { BlockFeed } from '../comet/feed.ts'
import type { AbciQuery, AbciQueryResult, IncludedTx, NodeRpc } from '../comet/rpc.ts'
import { queryCodes } from '../modules/errors.ts'
import { RpcError, tooMany } from './errors.ts'
import { FEED_START_MS_MAX, GAS_PRICES_KEPT } from './limits.ts'
import { type ListAnswer, shareLists } from './lists.ts'
import { RawJson } from './envelope.ts'
import { type HeadWatch, type Stall, stallReason } from './health.ts'

/** An answer of the chain: `data` as the query's path gives it, read at `height`. */
export interface ChainAnswer {
  readonly height: number
  readonly data: unknown
}

/** A row as the application has it, and what proves it to others. */
export interface ProvenRow {
  readonly height: number
  /**
   * Bytes: the state key, the row (none when it does not exist), and an ics23.CommitmentProof for the app hash in
   * header height + 1.
   */
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly proof: Uint8Array
}

/** Clients of one node, each with connections of its own, so that no queue of one holds up another. */
export interface NodeClients {
  /** For the feed, and for what a transaction needs. */
  readonly transactions: NodeRpc
  /** For callers' queries with small answers. */
  readonly queries: NodeRpc
  /** For whole lists. */
  readonly lists: NodeRpc
}

/** What is read of the chain over one client. */
export interface Reads {
  readonly rpc: NodeRpc
  /** Committed balance (base units, decimal text) and nonce. */
  readonly account: (address: string) => Promise<{ readonly balance: string; readonly nonce: number }>
  /** In base units, in force in the block of that height. */
  readonly gasPrice: (height: number) => Promise<bigint>
  /** The transaction in a block, if the node knows one of that hash. */
  readonly findTx: (hash: string) => Promise<IncludedTx | undefined>
}

/**
 * What the gateway asks of the chain. The reads of `forCallers` serve callers' queries, the other reads transactions.
 * Throws NodeError when the node fails.
 */
export interface Chain extends Reads {
  readonly forCallers: Reads
  readonly feed: BlockFeed
  /** Of the first node answer; a gateway serves one chain. */
  readonly chainId: () => Promise<string>
  /** The chain id once the node has told it. */
  readonly knownChainId: () => string | undefined
  /** Throws RpcError -32602 when the chain refuses an argument. `height` 0 is the head. */
  readonly query: (path: string, height?: number) => Promise<ChainAnswer>
  /**
   * The same at the head, for a path whose answer is small: those of one turn of the event loop are asked for together.
   */
  readonly queryOne: (path: string) => Promise<ChainAnswer>
  /** The same at the head for a path whose answer is long: equal ones share one answer, as the node wrote it. */
  readonly queryList: (path: string) => Promise<RawJson>
  /**
   * The row of `/store/<table>/<key>` at the head with its proof. Throws RpcError -32602 when there can be no such row.
   */
  readonly prove: (path: string) => Promise<ProvenRow>
  /**
   * Throws RpcError -32011 unless the node has caught up, the feed has begun and blocks come: only then can a
   * transaction be followed.
   */
  readonly needReady: () => Promise<void>
  /** That the chain makes no blocks; undefined while it does. */
  readonly stall: () => Stall | undefined
  /** To be told when the connection to the node was lost: whether it has caught up is asked again. */
  readonly onLost: () => void
  /** To be told of a committed height before its block is delivered. */
  readonly onHeight: () => void
}

/** What the caller is told of a query that the application refused. Source: protocol.md §8. */
function refusalOf(path: string, { code, log }: { readonly code: number; readonly log: string }): Error {
  if (code === queryCodes.busy) return tooMany(log)
  if (code === queryCodes.unavailable) return new RpcError('nodeAway', log)
  if (code === queryCodes.badArgument || code === queryCodes.tooMuch) return new RpcError('invalidParams', log)
  return new Error(`query ${path}: code ${code}: ${log}`)
}

async function ask(rpc: NodeRpc, query: AbciQuery): Promise<AbciQueryResult> {
  const answer = await rpc.abciQuery(query)
  if (answer.code !== 0) throw refusalOf(query.path, answer)
  return answer
}

async function query(rpc: NodeRpc, path: string, height: number): Promise<ChainAnswer> {
  const answer = await ask(rpc, { path, height })
  return { height: answer.height, data: JSON.parse(fromUtf8(answer.value) ?? '') }
}

/** What the node says of each path, all of it at one head. */
async function queryAll(rpc: NodeRpc, paths: readonly string[]): Promise<readonly (ChainAnswer | Error)[]> {
  const [only] = paths
  if (only !== undefined && paths.length === 1) return [await query(rpc, only, 0)]
  const { height, value } = await ask(rpc, { path: '/batch', data: encodePaths(paths) })
  const answers = JSON.parse(fromUtf8(value) ?? '') as readonly PathAnswer[]
  return answers.map((answer, at) =>
    'code' in answer ? refusalOf(paths[at] as string, answer) : { height, data: answer.data },
  )
}

async function queryList(rpc: NodeRpc, path: string): Promise<ListAnswer> {
  const { height, value: json } = await ask(rpc, { path })
  if (json.length === 0) throw new Error(`query ${path}: the node answered without a value`)
  return { height, json }
}

async function prove(rpc: NodeRpc, path: string): Promise<ProvenRow> {
  const {
    height,
    key,
    value,
    proofOps: [op],
  } = await ask(rpc, { path, prove: true })
  if (op === undefined) throw new RpcError('nodeAway', 'the node has no state yet')
  return { height, key, value, proof: op.data }
}

function gasPrices(rpc: NodeRpc): (height: number) => Promise<bigint> {
  const kept = new Map<number, Promise<bigint>>()
  const read = async (height: number): Promise<bigint> => {
    const { data } = await query(rpc, '/governance/params', height)
    return BigInt((data as { gas_price: number }).gas_price)
  }
  return (height) => {
    const known = kept.get(height)
    if (known !== undefined) return known
    const reading = read(height)
    kept.set(height, reading)
    reading.catch(() => kept.delete(height))
    const [oldest] = kept.keys()
    if (kept.size > GAS_PRICES_KEPT && oldest !== undefined) kept.delete(oldest)
    return reading
  }
}

async function findTx(rpc: NodeRpc, hash: string): Promise<IncludedTx | undefined> {
  try {
    return await rpc.tx(hash)
  } catch (error) {
    if (isNodeError(error, 'NotFound')) return undefined
    throw error
  }
}

/** What is read over `rpc`, where `queryOne` asks for a path with a small answer. */
const readsOver = (rpc: NodeRpc, queryOne: Chain['queryOne']): Reads => ({
  rpc,
  gasPrice: gasPrices(rpc),
  findTx: (hash) => findTx(rpc, hash),
  account: async (address) => (await queryOne(`/accounts/${address}`)).data as { balance: string; nonce: number },
})

/**
 * Queries that come within one turn of the event loop go to the node as one question of at most BATCH_PATHS_MAX paths:
 * under load that costs the node and the application a fraction of what each path alone does.
 */
function queriesOver(rpc: NodeRpc): Chain['queryOne'] {
  const loader = new DataLoader<string, ChainAnswer>((paths) => queryAll(rpc, paths), {
    cache: false,
    maxBatchSize: BATCH_PATHS_MAX,
    batchScheduleFn: (send) => setImmediate(send),
  })
  return (path) => loader.load(path)
}

/** The chain behind a node, whose blocks `feed` delivers. */
export function createChain(
  { transactions: rpc, queries, lists: listsRpc }: NodeClients,
  feed: BlockFeed,
  { stall }: Pick<HeadWatch, 'stall'>,
): Chain {
  let chainId: string | undefined
  let caughtUp = false
  const readStatus = async (): Promise<void> => {
    const status = await rpc.status()
    chainId ??= status.chainId
    caughtUp = !status.catchingUp
    if (!caughtUp) throw new RpcError('nodeAway', `the node is catching up, it is at height ${status.latestHeight}`)
  }
  // Asked once for all who wait for it, or they would go on in another order than they came.
  let asking: Promise<string> | undefined
  const askChainId = async (): Promise<string> => {
    try {
      return (chainId ??= (await rpc.status()).chainId)
    } finally {
      asking = undefined
    }
  }
  let begun = false
  const queryOne = queriesOver(queries)
  const lists = shareLists({ ask: (path) => queryList(listsRpc, path), isFollowing: feed.connected })
  const needReady = async (): Promise<void> => {
    if (!caughtUp) await readStatus()
    begun ||= await Promise.race([feed.ready.then(() => true), sleep(FEED_START_MS_MAX, false, { ref: false })])
    if (!begun) throw new RpcError('nodeAway', 'the node does not deliver blocks')
    const stalled = stall()
    if (stalled !== undefined) throw new RpcError('nodeAway', stallReason(stalled), stalled)
  }
  return {
    ...readsOver(rpc, queriesOver(rpc)),
    forCallers: readsOver(queries, queryOne),
    feed,
    needReady,
    stall,
    queryOne,
    onLost: () => {
      caughtUp = false
    },
    onHeight: lists.onHeight,
    chainId: () => (asking ??= askChainId()),
    knownChainId: () => chainId,
    query: (path, height = 0) => query(queries, path, height),
    queryList: async (path) => {
      const { height, json } = await lists.read(path)
      return new RawJson([`{"height":${height},"data":`, json, '}'])
    },
    prove: (path) => prove(queries, path),
  }
}
