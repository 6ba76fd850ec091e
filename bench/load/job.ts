import type { PoolKind } from './pool.ts'

/** How long a load runs: what happens in the first `warmUpMs` is not measured. */
export interface Span {
  readonly warmUpMs: number
  readonly measuredMs: number
}

/** Where a node or gateway listens. */
export interface Target {
  readonly host: string
  readonly port: number
}

/** Transactions to a node. `fresh`: the node is new, so the pool begins anew. */
export interface TxJob extends Span {
  readonly load: 'saturate' | 'openLoop' | 'closedLoop' | 'blockLoop'
  readonly target: Target
  readonly pool: PoolKind
  readonly fresh: boolean
  /** Transactions under way at most, a second, or senders. */
  readonly size: number
}

/** Makes transactions before they are needed: the next `size` of a pool. */
export interface PrepareJob {
  readonly load: 'prepare'
  readonly pool: PoolKind
  readonly fresh: boolean
  readonly size: number
}

/**
 * Calls over HTTP, `bodies` in turn: `lanes` connections that each send the next when answered, or `perSecond` whatever
 * happens.
 */
export interface CallJob extends Span {
  readonly load: 'calls'
  readonly target: Target
  readonly lanes: number
  readonly perSecond?: number
  readonly bodies: readonly string[]
  /** What a good answer holds. */
  readonly good: string
}

/** One load, as the bench tells the generator. */
export type Job = TxJob | PrepareJob | CallJob

/** What a load came to. Latencies are from sending to the event of the block, or of calls to the answer. */
export interface Measured {
  /** Transactions in blocks, or good answers. */
  readonly perSecond: number
  /** Mean of a block; 0 for calls. */
  readonly blockTxs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly sent: number
  /** Not taken into the mempool, or answers that were not good. */
  readonly refused: number
  /** In all blocks, or answered. */
  readonly committed: number
}
