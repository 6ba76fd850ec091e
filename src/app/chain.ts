import type { FinalizeBlockResponse, ProcessProposalRequest, QueryRequest, QueryResponse } from '../abci/types.ts'
import type { Address } from '../base/address.ts'
import { secondsOf } from '../base/time.ts'
import { getChain } from '../modules/chain/keeper.ts'
import type { Block, NodeChecks } from '../modules/define.ts'
import type { EndOfBlock } from '../modules/endBlock.ts'
import type { Params } from '../modules/params/definitions.ts'
import { type Period, periodInForce } from '../modules/params/keeper.ts'
import { params as paramsTable } from '../modules/params/tables.ts'
import type { CommitVote } from '../modules/stake/block/commit.ts'
import { type Change, makeOverlay, type Overlay } from '../store/overlay.ts'
import type { StateReader } from '../store/state.ts'
import type { PreparedBlock, Store } from '../store/store.ts'
import { makeTxCache, type TxCache } from './txCache.ts'

/** Where the application tells what it sees; pino fits. */
export interface AppLogger {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Where snapshots are, who makes them, and how one is taken over. */
export interface SnapshotOptions {
  /** Folder of those that this node has. */
  readonly folder: string
  /**
   * Called after each commit: begins a snapshot if its turn has come, and does not wait for its end. Without it none
   * are offered.
   */
  readonly beginAt?: (height: number) => void
  /** The chain whose snapshots a node takes that has no state yet; any when left out. */
  readonly chainId?: string | undefined
  /** Path of the database that a peer's snapshot is restored into. */
  readonly restorePath: string
  /** Puts the state in a database in place of the store's own, whole or not at all. */
  readonly replaceBy: (path: string) => void
}

/** Who answers queries beside the blocks. */
export interface Queries {
  readonly ask: (request: QueryRequest) => QueryResponse | Promise<QueryResponse>
  /** A block was committed. */
  readonly committed: () => void
}

/** What an application is made of. */
export interface AppOptions {
  readonly store: Store
  /** Version of this program, as Info tells it. */
  readonly version: string
  /** What only this node can answer: CheckTx alone asks it, never a block. */
  readonly node?: NodeChecks
  readonly logger: AppLogger
  /** Without it queries are answered from the store, within the call: for tests. */
  readonly queries?: Queries
  /** Without it this node has no snapshots and takes none. */
  readonly snapshots?: SnapshotOptions
  /** How many of the newest blocks CometBFT keeps at least, 2 or more; 0, the default, keeps all. */
  readonly keepBlocks?: number
  /** Does something once the answer under way is sent. Without it no proposal is run ahead (decision record 0012). */
  readonly afterAnswer?: (work: () => void) => void
  /**
   * Called after the commit of the block in which the program version was retired: the program stops then (protocol.md
   * §7).
   */
  readonly onRetired?: (programVersion: number, height: number) => void
  /**
   * Called after each block was committed, with the rows it changed: the fetcher of libraries listens. Consensus waits
   * for it.
   */
  readonly onCommitted?: (height: number, changes: readonly Change[]) => void
}

/** The block between BeginBlock and Commit. */
export interface OpenBlock {
  readonly overlay: Overlay
  readonly block: Block
  readonly votes: readonly CommitVote[]
  transactions: number
  end?: EndOfBlock
  prepared?: PreparedBlock
}

/** What CheckTx has accepted since the head: effects, and how many transactions without a fee wait for each sender. */
export interface CheckState {
  readonly overlay: Overlay
  readonly block: Block
  readonly free: Map<Address, number>
}

/** An accepted proposal that is run before it is decided. `done` is its outcome, once it was run. */
export interface Ahead {
  readonly proposal: ProcessProposalRequest
  done?: { readonly open: OpenBlock; readonly response: FinalizeBlockResponse }
}

/** The application between two requests. `genesis` holds what InitChain made until the first commit. */
export interface Chain {
  readonly options: AppOptions
  readonly txs: TxCache
  genesis: Overlay | undefined
  open: OpenBlock | undefined
  check: CheckState | undefined
  ahead: Ahead | undefined
  /** True once FinalizeBlock was asked: the dialect runs a block in one request. */
  finalizes: boolean
  /** The parameters last read, and above which head: CheckTx and blocks have the same until some are changed. */
  inForce: (Period<Params> & { readonly head: StateReader; readonly headHeight: number }) | undefined
}

/** An application at the height its store is at. */
export const makeChain = (options: AppOptions): Chain => ({
  options,
  txs: makeTxCache(),
  genesis: undefined,
  open: undefined,
  check: undefined,
  ahead: undefined,
  finalizes: false,
  inForce: undefined,
})

/** The head: the committed rows, and before the first commit those that InitChain made. */
export const headOf = (chain: Chain): StateReader => chain.genesis ?? chain.options.store

/** The parameters in force in block `height`, as the head has them. */
export function paramsAt(chain: Chain, height: number): Params {
  const head = headOf(chain)
  const headHeight = chain.options.store.height()
  const known = chain.inForce
  if (known?.head === head && known.headHeight === headHeight && known.from <= height && height < known.until)
    return known.values
  const read = periodInForce(head, height)
  chain.inForce = { ...read, head, headHeight }
  return read.values
}

/**
 * After a commit: takes what was in force above the head before along to the new one, unless the block's `changes` hold
 * parameters.
 */
export function keepParams(chain: Chain, changes: readonly Change[]): void {
  const {
    inForce,
    options: { store },
  } = chain
  const isSame = inForce?.head === store && changes.every(({ table }) => table.name !== paramsTable.name)
  chain.inForce = isSame ? { ...inForce, headHeight: store.height() } : undefined
}

/** The block of a height and time above the head; `params` are those in force in it. */
export function makeBlock(head: StateReader, height: number, timeMs: number, params: Params): Block {
  return { chainId: getChain(head).chainId, height, timeMs, time: secondsOf(timeMs), params }
}

/**
 * The check state, made anew from the head where there is none: as in block head + 1 at the head's time.
 * Source: protocol.md §2, CheckTx.
 */
export function checkStateOf(chain: Chain): CheckState {
  if (chain.check === undefined) {
    const head = headOf(chain)
    const { lastHeight, lastTimeMs, initialHeight } = getChain(head)
    const height = lastHeight === 0 ? initialHeight : lastHeight + 1
    const block = makeBlock(head, height, lastTimeMs, paramsAt(chain, height))
    chain.check = { overlay: makeOverlay(head), block, free: new Map() }
  }
  return chain.check
}

/** The open block. A request that comes out of turn is a bug of whoever drives us, and stops the process. */
export function needOpen(chain: Chain, request: string): OpenBlock {
  if (chain.open === undefined) throw new Error(`${request} came without a block before it`)
  return chain.open
}
