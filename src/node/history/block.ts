/** What the index keeps of a block, and how it lies in journal and index. executed.ts makes it. */
import { historyCodec } from '../../codec/history.ts'

/** What an owner of candidacies did, or a block did to it. `attributes` is a JSON object of texts. */
export interface OwnerEvent {
  readonly owner: string
  readonly type: string
  readonly attributes: string
  /** Of the transaction that did it; undefined for an event of the block. */
  readonly txIndex?: number | undefined
}

/**
 * What the index keeps of a block. Of the transaction at an index: its bytes, its `HistoryResult` in bytes, and the
 * addresses of all accounts that it concerns, each once, in bytes one behind the other.
 */
export interface HistoryBlock {
  readonly timeMs: number
  readonly txs: readonly Uint8Array[]
  readonly results: readonly Uint8Array[]
  readonly accounts: readonly Uint8Array[]
  readonly events: readonly OwnerEvent[]
}

/** What came of a transaction: the members of CometBFT's result that callers see. */
export interface HistoryResult {
  readonly code: number
  readonly log: string
  readonly info: string
  readonly data: Uint8Array
  readonly gasUsed: number
}

/** A block as the journal keeps it. */
export const historyBlockCodec = historyCodec<HistoryBlock>('history.Block')

/** What came of a transaction, as journal and index keep it. */
export const historyResultCodec = historyCodec<HistoryResult>('history.Result')
