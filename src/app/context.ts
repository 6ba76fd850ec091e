import type { FinalizeBlockResponse, ProcessProposalRequest, QueryRequest, QueryResponse } from '../abci/types.ts'
import type { Address } from '../values/address.ts'
import { toHex } from '../base/bytes.ts'
import { secondsOf } from '../base/time.ts'
import { getChain } from '../modules/chain/keeper.ts'
import type { Block, NodeChecks } from '../modules/define.ts'
import type { EndOfBlock } from '../modules/endBlock.ts'
import type { ChainEvent } from '../modules/event.ts'
import { loadAnswers } from '../modules/governance/keeper.ts'
import type { ReadTx, Verdict, Verify } from '../modules/kernel.ts'
import type { Params } from '../modules/params/definitions.ts'
import { paramsInForce } from '../modules/params/keeper.ts'
import type { CommitVote } from '../modules/stake/block.ts'
import type { Change, JournalEntry, Overlay, PreparedBlock, StateReader, Store } from '../store/index.ts'
import type { TxCache } from './mempool.ts'

/** Where the application reports what happens; a pino logger fits. */
export interface AppLogger {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Where snapshots are kept, who makes them, and how a peer's snapshot becomes the state of this node. */
export interface SnapshotOptions {
  /** The folder of this node's own snapshots. */
  readonly folder: string
  /**
   * Called after each commit: starts a snapshot when one is due, and returns before it is finished. Without it the node
   * offers no snapshots to its peers.
   */
  readonly beginAt?: (height: number) => void
  /** The only chain whose snapshots a node without state accepts; any chain when left out. */
  readonly chainId?: string | undefined
  /** Path of the database that a peer's snapshot is restored into. */
  readonly restorePath: string
  /** Replaces the store's state by the database at `path`, completely or not at all. */
  readonly replaceBy: (path: string) => void
}

/** Answers queries in another thread, so that blocks do not wait for them. */
export interface Queries {
  readonly ask: (request: QueryRequest) => QueryResponse | Promise<QueryResponse>
  /** Must be called after each commit. */
  readonly committed: () => void
}

/** A block that was executed, when it is committed. `events`: the block's own. */
export interface ExecutedBlock {
  readonly height: number
  readonly timeMs: number
  readonly outcomes: readonly TxOutcome[]
  readonly events: readonly ChainEvent[]
}

/** Keeps the histories of accounts and validators beside the state. Consensus waits for none of it but `journal`. */
export interface Histories {
  /** What is written with a block, in the transaction that commits it. */
  readonly journal: (block: ExecutedBlock) => JournalEntry
  /** Must be called after each commit. Blocks below `retainHeight` may be forgotten; 0 keeps all of them. */
  readonly committed: (retainHeight: number) => void
}

/** Verifies signatures in other threads, ahead of the application. */
export interface SignaturesAhead {
  /** Hands over transactions whose signatures are needed soon, in this order. Their bytes are copied. */
  readonly handOver: (txs: readonly Uint8Array[]) => void
  /** The verdict of another thread when there is one, else that of this one. */
  readonly isSigned: Verify
}

/** What an application is made of. */
export interface AppOptions {
  readonly store: Store
  /** The version of this program, which Info reports. */
  readonly version: string
  /**
   * The program version that this program runs. Blocks of another one are refused with an OtherProgramVersion, which
   * must end the program (protocol.md §7). Without it every block is executed, which suits tests.
   */
  readonly programVersion?: number
  /** Checks that depend on this node, such as its operating system. Only CheckTx uses them, a block never does. */
  readonly node?: NodeChecks
  readonly logger: AppLogger
  /** Without it, queries are answered from the store within the call, which suits tests. */
  readonly queries?: Queries
  /** Without it, this node keeps no histories. */
  readonly histories?: Histories | undefined
  /** Without it, the application verifies every signature itself. */
  readonly signatures?: SignaturesAhead | undefined
  /** Without it, this node neither offers nor accepts snapshots. */
  readonly snapshots?: SnapshotOptions
  /** The minimum number of newest blocks that CometBFT keeps: 2 or more, or 0 (the default) to keep all of them. */
  readonly keepBlocks?: number
  /**
   * Calls `work` once the response in progress has been sent. Without it, no proposal is executed before it is decided
   * (decision record 0012).
   */
  readonly afterAnswer?: (work: () => void) => void
  /**
   * Called after the commit of the block that retired this program version. The program must then stop (protocol.md
   * §7).
   */
  readonly onRetired?: (programVersion: number, height: number) => void
  /**
   * Called after each commit with the rows that the block changed and the outcomes of its transactions. Consensus waits
   * until it returns.
   */
  readonly onCommitted?: (height: number, changes: readonly Change[], outcomes: readonly TxOutcome[]) => void
}

/** A transaction in a block, and what became of it. `operation`: undefined for bytes that cannot be decoded. */
export interface TxOutcome {
  readonly operation: string | undefined
  readonly tx: Uint8Array
  readonly verdict: Verdict
}

/** The block between BeginBlock and Commit. `end` and `prepared` are set by EndBlock. */
export interface OpenBlock {
  readonly overlay: Overlay
  readonly block: Block
  readonly votes: readonly CommitVote[]
  /** The events of BeginBlock. */
  readonly begun: readonly ChainEvent[]
  readonly outcomes: TxOutcome[]
  /** It contains a transaction that this node's mempool took after the last block that passed by. See AppContext. */
  hasNewest: boolean
  end?: EndOfBlock
  prepared?: PreparedBlock
}

/** The effects of what CheckTx accepted above the head, and how many free transactions each sender has waiting. */
export interface CheckState {
  readonly overlay: Overlay
  readonly block: Block
  readonly free: Map<Address, number>
}

/** An accepted proposal that is executed before it is decided. `outcome` is set once it was executed. */
export interface OptimisticRun {
  readonly proposal: ProcessProposalRequest
  outcome?: { readonly open: OpenBlock; readonly response: FinalizeBlockResponse }
}

/**
 * The newest state that the application stands on, and everything that was derived from it. Nothing in here outlives
 * the state: `resetTo` replaces the whole object.
 */
export interface Head {
  /** The committed rows; between InitChain and the first commit, the rows that InitChain made. */
  readonly state: StateReader
  /** The parameters in force after this state, where the block that led to it has left them as they were. */
  readonly params?: Params | undefined
  /** The height after this state, and the parameters in force there. Read on first use. */
  next?: { readonly chainId: string; readonly height: number; readonly lastTimeMs: number; readonly params: Params }
  open?: OpenBlock
  check?: CheckState
  optimistic?: OptimisticRun
}

/** Everything that the handlers of one application share. */
export interface AppContext {
  readonly options: AppOptions
  readonly txCache: TxCache
  head: Head
  /** True once the node has sent a FinalizeBlock request, which the 0.37 dialect does not have. */
  usesFinalizeBlock: boolean
  /**
   * How many blocks have passed by what waits in the mempool. A block does so when it is empty, or contains a transaction
   * that the mempool took after the last block that did. When a mempool is drained in order, at most two pass a transaction
   * by before its turn comes, however long the mempool is.
   */
  passes: number
}

/** Creates the context of an application that stands on the committed state of its store. */
export function createContext(options: AppOptions, txCache: TxCache): AppContext {
  loadAnswers(options.store)
  return {
    options,
    txCache,
    head: { state: options.store },
    usesFinalizeBlock: false,
    passes: 0,
  }
}

/**
 * Makes `state` the head. The open block, the check state, the optimistic run and the parameters of the old head are
 * gone afterwards. `params`: the parameters in force in the next block, where the caller knows them.
 */
export function resetTo(app: AppContext, state: StateReader, params?: Params): void {
  app.head = { state, params }
}

/** What is known of the block after the head. Throws before InitChain. */
export function nextOf({ head }: AppContext): NonNullable<Head['next']> {
  if (head.next === undefined) {
    const { chainId, lastHeight, lastTimeMs, initialHeight } = getChain(head.state)
    const height = lastHeight === 0 ? initialHeight : lastHeight + 1
    head.next = { chainId, height, lastTimeMs, params: head.params ?? paramsInForce(head.state, height) }
  }
  return head.next
}

/** The block after the head, at `timeMs`. */
export function createBlock(app: AppContext, timeMs: number): Block {
  const { chainId, height, params } = nextOf(app)
  return { chainId, height, timeMs, time: secondsOf(timeMs), params }
}

/** How many transactions of a block are handed over before the application comes to them. */
const TXS_AHEAD = 1024

/**
 * A function to be called before each transaction of a block, with its index. It hands over those of the next TXS_AHEAD
 * whose signatures this node has not verified yet: all of them in block sync and replay.
 */
export function handOverAhead(
  { txCache, options: { signatures } }: AppContext,
  txs: readonly Uint8Array[],
): (index: number) => void {
  if (signatures === undefined) return () => undefined
  let end = 0
  return (index) => {
    if (end - index > TXS_AHEAD / 2 || end >= txs.length) return
    signatures.handOver(txs.slice(end, index + TXS_AHEAD).filter((tx) => !txCache.mayHave(tx)))
    end = index + TXS_AHEAD
  }
}

/** The open block. Throws when there is none, because the node has skipped a request. */
export function needOpen({ head }: AppContext, request: string): OpenBlock {
  if (head.open === undefined) throw new Error(`${request} came without a block before it`)
  return head.open
}

/**
 * Reports a transaction that failed with code 1000 to the operator: its hash and what was thrown. Source: protocol.md
 * §2, Codes.
 */
export function logDefect({ options: { logger } }: AppContext, read: ReadTx, { defect }: Verdict): void {
  if (defect !== undefined)
    logger.error({ hash: toHex(read.hash).toUpperCase(), err: defect }, 'a transaction met a defect: code 1000')
}
