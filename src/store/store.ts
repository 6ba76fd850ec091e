import type { Change, Overlay } from './overlay.ts'
import type { StateReader } from './state.ts'
import type { Table } from './table.ts'
import { EMPTY_ROOT } from './tree/node.ts'
import type { CommitmentProof } from './tree/proof.ts'
import { type ReadPage, type TreeWrite, updateTreeByRows } from './tree/tree.ts'

/** One committed block. */
export interface BlockRecord {
  readonly height: number
  /** Unix ms. */
  readonly timeMs: number
  /** The root of the state after this block, 32 bytes. The header of height + 1 carries it. */
  readonly appHash: Uint8Array
  /** How many transactions the block carried. */
  readonly transactions: number
}

/** The record that stands for the block before the first one. */
export const BEFORE_ALL: BlockRecord = { height: 0, timeMs: 0, appHash: EMPTY_ROOT, transactions: 0 }

/** A block as it lies in the journal, and the height up to which the journal's blocks are removed. */
export interface JournalEntry {
  readonly block: Uint8Array
  readonly doneTo: number
}

/** What is committed with a block besides its rows. */
export type BlockInfo = Omit<BlockRecord, 'appHash'> & {
  readonly chainId: string
  /** Records of blocks below this height are removed, the oldest first. A commit may leave some to a later one. */
  readonly blocksFrom?: number
  /** What is to be read of the block outside consensus and must not be lost: see `openJournal`. */
  readonly journal?: JournalEntry | undefined
}

/** A state as one commit left it. */
export interface CommittedState extends StateReader {
  /** The height of the last committed block; 0 when there is none. */
  height(): number
  /** The root of the hashed rows, 32 bytes; zeros when there are none. */
  appHash(): Uint8Array
  /** The time of the last committed block in Unix ms; 0 when there is none. */
  timeMs(): number
  /** The chain that this is the state of; undefined until the first commit. */
  chainId(): string | undefined
  /** The committed block of `height`; undefined when there is none. */
  block(height: number): BlockRecord | undefined
  /**
   * The ICS-23 proof, against `appHash()`, that `key` has its row or has none. Undefined in an empty tree, and for a
   * table that is not hashed.
   */
  prove<K extends object, R extends K, I extends string>(table: Table<K, R, I>, key: K): CommitmentProof | undefined
  /**
   * Computes the root anew from every hashed row, by its definition and without the stored tree. The cost grows with
   * the whole state.
   */
  recomputeRoot(): Uint8Array
}

/** The effect of a block, computed but not written yet. `prepare` returns it, and `commit` of the same store takes it once. */
export interface PreparedBlock {
  readonly appHash: Uint8Array
  readonly changes: readonly Change[]
  readonly tree: TreeWrite
  /** The height of the state that the block was prepared above. */
  readonly heightBelow: number
}

/** Where the chain's state is kept. Its own reads give committed rows. A scan throws when it is continued after a write. */
export interface Store extends CommittedState {
  /**
   * Computes the app hash and the rows that committing `overlay` would lead to, and writes nothing. The overlay stands
   * above this store, with any number between. It may be called several times before a commit; a commit makes the other
   * results worthless.
   */
  prepare(overlay: Overlay): PreparedBlock
  /**
   * Writes a prepared block: rows, tree, height, time and app hash in one transaction, which is on disk when the call
   * returns. Throws, and leaves the state as it was, when any part fails; also when the height is not above the last
   * one, the chain is another one, or something was committed since `prepare`.
   */
  commit(prepared: PreparedBlock, block: BlockInfo): void
  /**
   * Rolls the last committed block back: rows, tree, height, time and app hash are those of the block before, in one
   * transaction, which is on disk when the call returns. Below the first block there is an empty state. The node's own
   * rows stay.
   *
   * StoreError, and nothing changes, when nothing is kept for that block (only one block can be rolled back, and none
   * that changes very much), or when the rows would not have the app hash that the block before committed. `agree` is
   * called with the block before once everything is ready to be written; when it throws, nothing changes.
   */
  rollback(agree?: (last: BlockRecord) => void): void
  /** Writes one row of a table that is not hashed, at once and outside any block. */
  putLocal<K extends object, R extends K, I extends string>(table: Table<K, R, I>, row: R): void
  /** Removes one row of a table that is not hashed, at once and outside any block. */
  removeLocal<K extends object, R extends K, I extends string>(table: Table<K, R, I>, key: K): void
  close(): void
}

/** A view for people who look into the file. It is no part of the state. */
export interface View {
  readonly name: string
  /** The SELECT. */
  readonly sql: string
}

/** `prepare` of a store whose tree is read with `readPage`. */
export function prepareBlock(store: CommittedState, readPage: ReadPage, overlay: Overlay): PreparedBlock {
  const changes = overlay.changes(store)
  const tree = updateTreeByRows(readPage, changes)
  return { appHash: tree.root, changes, tree, heightBelow: store.height() }
}

/** Throws unless `block` may follow what is committed. That would be a bug of the caller: no block is committed twice. */
export function assertFollows(state: CommittedState, { heightBelow }: PreparedBlock, block: BlockInfo): void {
  if (!Number.isSafeInteger(block.height) || block.height <= state.height())
    throw new Error(`commit: height ${block.height} does not follow ${state.height()}`)
  const chainId = state.chainId()
  if (chainId !== undefined && chainId !== block.chainId)
    throw new Error(`commit: this is the state of ${chainId}, not of ${block.chainId}`)
  if (heightBelow !== state.height())
    throw new Error('commit: something else was committed since this block was prepared')
}

/** Throws unless `table` is the node's own: rows under the app hash change with blocks only. */
export function assertLocal(table: Table): void {
  if (table.hashed) throw new Error(`table ${table.name} is under the app hash: only a block may write it`)
}

/** Returns `rows`, which throw once `writes` differs from what it is now: a scan of committed rows does not outlive them. */
export function unlessWritten<R>(rows: Iterable<R>, writes: () => number): Iterable<R> {
  const start = writes()
  const scan = function* (): Generator<R> {
    for (const row of rows) {
      if (writes() !== start) throw new Error('this walk of committed rows began before the last write')
      yield row
    }
  }
  return { [Symbol.iterator]: scan }
}

/** Throws when two tables share a name or a tag: both identify the table of a row. */
export function assertTables(tables: readonly Table[]): void {
  for (const field of ['name', 'tag'] as const) {
    const seen = new Set<string | number>()
    for (const table of tables) {
      if (seen.has(table[field])) throw new Error(`two tables have the ${field} ${table[field]}`)
      seen.add(table[field])
    }
  }
}
