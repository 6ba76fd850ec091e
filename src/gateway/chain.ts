import { setTimeout as sleep } from 'node:timers/promises'
import DataLoader from 'dataloader'
import QuickLRU from 'quick-lru'
import { fromUtf8 } from '../base/bytes.ts'
import { BATCH_PATHS_MAX, encodePaths, type PathAnswer } from '../codec/queryBatch.ts'
import type { BlockFeed } from '../comet/feed.ts'
import { type AbciQuery, type AbciQueryResult, type NodeRpc, openNodeRpc } from '../comet/rpc.ts'
import { queryCodes } from '../modules/errors.ts'
import { RpcError, tooMany } from './rpc/errors.ts'
import {
  BLOCKS_ASKED_MAX,
  BLOCKS_MAX,
  FEED_START_MS_MAX,
  GAS_PRICES_KEPT,
  HISTORIES_ASKED_MAX,
  LISTS_ASKED_MAX,
  QUERIES_ASKED_MAX,
  QUERIES_MAX,
  ROWS_OF_ADDRESS_MAX,
} from './http/limits.ts'
import { findTxWith, type HistoryPage } from './feed/histories.ts'
import { shareLists } from './lists.ts'
import { turnsOf } from './fewAtATime.ts'
import { RawJson } from './rpc/envelope.ts'
import { type HeadWatch, stallReason } from './http/health.ts'

/** An answer of the chain: `data` as the query's path gives it, read at `height`. */
interface ChainAnswer {
  readonly height: number
  readonly data: unknown
}

/**
 * Opens clients of one node, so that no query waits before a transaction or a block, no list before a query, and nothing
 * before a history.
 */
export const openClients = (node: string) => ({
  transactions: openNodeRpc(node),
  queries: openNodeRpc(node, { connections: QUERIES_ASKED_MAX, calls: QUERIES_MAX }),
  lists: openNodeRpc(node, { connections: LISTS_ASKED_MAX }),
  blocks: openNodeRpc(node, { connections: BLOCKS_ASKED_MAX, calls: BLOCKS_MAX }),
  histories: openNodeRpc(node, { connections: HISTORIES_ASKED_MAX }),
})

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

/** Reads all paths at one head. */
async function queryAll(rpc: NodeRpc, paths: readonly string[]): Promise<readonly (ChainAnswer | Error)[]> {
  const [only] = paths
  if (only !== undefined && paths.length === 1) return [await query(rpc, only, 0)]
  const { height, value } = await ask(rpc, { path: '/batch', data: encodePaths(paths) })
  const answers = JSON.parse(fromUtf8(value) ?? '') as readonly PathAnswer[]
  return answers.map((answer, at) =>
    'code' in answer ? refusalOf(paths[at] as string, answer) : { height, data: answer.data },
  )
}

const OPEN_BRACE = '{'.charCodeAt(0)

/** Reads a list. With a total it comes as an object, whose brace the height's takes the place of. */
async function queryList(rpc: NodeRpc, path: string): Promise<RawJson> {
  const { height, value } = await ask(rpc, { path })
  if (value.length === 0) throw new Error(`query ${path}: the node answered without a value`)
  return new RawJson(
    value[0] === OPEN_BRACE ? [`{"height":${height},`, value.subarray(1)] : [`{"height":${height},"data":`, value, '}'],
  )
}

async function prove(rpc: NodeRpc, path: string) {
  const { height, key, value, proofOps } = await ask(rpc, { path, prove: true })
  const proof = proofOps[0]?.data
  if (proof === undefined) throw new RpcError('nodeAway', 'the node has no state yet')
  return { height, key, value, proof }
}

function gasPrices(rpc: NodeRpc): (height: number) => Promise<bigint> {
  const kept = new QuickLRU<number, Promise<bigint>>({ maxSize: GAS_PRICES_KEPT })
  const read = (height: number): Promise<bigint> => {
    const reading = query(rpc, '/governance/params', height).then(({ data }) =>
      BigInt((data as { gas_price: number }).gas_price),
    )
    kept.set(height, reading)
    reading.catch(() => kept.delete(height))
    return reading
  }
  return (height) => kept.get(height) ?? read(height)
}

/**
 * Returns a function that reads a path at the head. Calls of one turn of the event loop go to the node as one question
 * of at most BATCH_PATHS_MAX paths: under load that costs the node and the application a fraction of what each path
 * alone does.
 */
function batchedQuery(rpc: NodeRpc): (path: string) => Promise<ChainAnswer> {
  const loader = new DataLoader<string, ChainAnswer>((paths) => queryAll(rpc, paths), {
    cache: false,
    maxBatchSize: BATCH_PATHS_MAX,
    batchScheduleFn: (send) => setImmediate(send),
  })
  return (path) => loader.load(path)
}

const readsOver = (rpc: NodeRpc) => {
  const queryOne = batchedQuery(rpc)
  return {
    rpc,
    /** Reads a path at the head whose answer is small. */
    queryOne,
    /** Reads the price in base units that was in force in the block of that height. */
    gasPrice: gasPrices(rpc),
    /** Returns the transaction in a block, or undefined when the node knows none of that hash. */
    findTx: findTxWith(queryOne),
    /** Reads the committed balance (base units, decimal text) and nonce. */
    account: async (address: string) =>
      (await queryOne(`/accounts/${address}`)).data as { readonly balance: string; readonly nonce: number },
  }
}

/** What the gateway asks of the chain. */
export type Chain = ReturnType<typeof createChain>

/**
 * Creates the chain behind a node, whose blocks `feed` delivers. Every read throws NodeError when the node fails, and
 * RpcError -32602 when the application refuses an argument.
 */
export function createChain(
  { transactions: rpc, queries, lists: listsRpc, blocks, histories }: ReturnType<typeof openClients>,
  feed: BlockFeed,
  { stall }: Pick<HeadWatch, 'stall'>,
) {
  // All who wait for it share one question, or they would go on in another order than they came.
  let chainId: Promise<string> | undefined
  let caughtUp = false
  // A node that has begun anew comes to no new head for long, and every list of the old chain is wrong.
  let isOnHead = true
  const readStatus = async (): Promise<void> => {
    const status = await rpc.status()
    chainId ??= Promise.resolve(status.chainId)
    caughtUp = !status.catchingUp
    if (!caughtUp) throw new RpcError('nodeAway', `the node is catching up, it is at height ${status.latestHeight}`)
  }
  const askChainId = (): Promise<string> => {
    const asking = rpc.status().then((status) => status.chainId)
    asking.catch(() => {
      if (chainId === asking) chainId = undefined
    })
    return asking
  }
  let begun = false
  const needBlocks = (): void => {
    const stalled = stall()
    if (stalled !== undefined) throw new RpcError('nodeAway', stallReason(stalled), stalled)
  }
  const forCallers = readsOver(queries)
  const historyTurn = turnsOf('a history', 1)
  const blockTurn = turnsOf('a block', 1)
  const rowsTurn = turnsOf('a list', ROWS_OF_ADDRESS_MAX)
  const lists = shareLists({
    ask: (path) => queryList(listsRpc, path),
    isFollowing: () => isOnHead && feed.connected(),
  })
  return {
    ...readsOver(rpc),
    forCallers,
    /** The node, for whole blocks that callers ask for. */
    blocks,
    /**
     * Reads a page of a history for a caller, by the path of it. An address has one under way, and those of several
     * addresses wait for a connection in their order, so that a caller who asks for many delays only itself. Throws
     * RpcError -32015 for one that has waited too long.
     */
    history: async <Row>(caller: string, path: string): Promise<HistoryPage<Row>> => {
      const page = await historyTurn(caller, () => query(histories, path, 0))
      return page.data as HistoryPage<Row>
    },
    /** Reads a whole block for a caller with `read`, in the same turns. */
    blockFor: <T>(caller: string, read: (node: NodeRpc) => Promise<T>): Promise<T> =>
      blockTurn(caller, () => read(blocks)),
    feed,
    /** Returns how long the chain has made no blocks; undefined while it makes them. */
    stall,
    /** Resolves with the chain id of the node, which a gateway whose chain has begun never sees change. */
    chainId: (): Promise<string> => (chainId ??= askChainId()),
    /** Reads a path at a height; 0 is the head. */
    query: (path: string, height = 0): Promise<ChainAnswer> => query(queries, path, height),
    queryOne: forCallers.queryOne,
    /**
     * Reads a path at the head for a caller that the application answers as a list, though it is short: the candidacies of
     * a delegator, a proposal with its votes. An address has a few under way.
     */
    queryRows: (caller: string, path: string): Promise<ChainAnswer> => rowsTurn(caller, () => query(queries, path, 0)),
    /** Reads a path at the head whose answer is long: equal ones share one answer, as the node wrote it. */
    queryList: lists.read,
    /**
     * Reads the row of `/store/<table>/<key>` at the head: the state key, the bytes of the row (none when it does not
     * exist), and an ics23.CommitmentProof for the app hash in header height + 1.
     */
    prove: (path: string) => prove(queries, path),
    /**
     * Throws RpcError -32011 unless the node has caught up, the feed has begun and blocks come: only then can a
     * transaction be followed.
     */
    needReady: async (): Promise<void> => {
      // A node that is silent would be waited for, although the answer is known.
      if (begun) needBlocks()
      if (!caughtUp) await readStatus()
      begun ||= await Promise.race([feed.ready.then(() => true), sleep(FEED_START_MS_MAX, false, { ref: false })])
      if (!begun) throw new RpcError('nodeAway', 'the node does not deliver blocks')
      needBlocks()
    },
    /** To be called when the connection to the node was lost: whether it has caught up is asked again. */
    onLost: (): void => {
      caughtUp = false
      // A chain that has not begun may still get another genesis. Of one that has, the feed sees that it is replaced.
      if (feed.head() === 0) chainId = undefined
      isOnHead = false
    },
    /** To be called at a committed height, before its block is delivered. */
    onHeight: (): void => {
      isOnHead = true
      lists.onHeight()
    },
  }
}
