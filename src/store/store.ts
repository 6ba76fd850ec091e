import { EMPTY_ROOT } from './tree/node.ts'
import type { Change, Overlay } from './overlay.ts'
import type { StateReader } from './state.ts'
import type { MapKey, Table } from './table.ts'
import type { CommitmentProof } from './tree/proof.ts'

/** Any table, whatever its columns are: what a list of tables holds. */
export interface AnyTable
  extends Omit<Table, 'indexes' | 'keyOf' | 'mapKey' | 'encode' | 'decode' | 'isEqual' | 'isDefault'> {
  readonly indexes: Readonly<Record<string, (row: never) => Uint8Array | undefined>>
  readonly keyOf: (key: never) => Uint8Array
  readonly mapKey: (key: never) => MapKey
  readonly isEqual: (a: never, b: never) => boolean
  readonly encode: (row: never) => Uint8Array
  readonly decode: (key: never, value: Uint8Array) => object
  readonly isDefault: (row: never) => boolean
}

/** One committed block. */
export interface BlockRecord {
  readonly height: number
  /** Unix ms. */
  readonly timeMs: number
  /** Root of the state after this block, 32 bytes: in the header of height + 1. */
  readonly appHash: Uint8Array
  /** How many transactions the block carried. */
  readonly transactions: number
}

/** What stands for the block before the first one. */
export const BEFORE_ALL: BlockRecord = { height: 0, timeMs: 0, appHash: EMPTY_ROOT, transactions: 0 }

/** What is committed with a block beside its rows. */
export type BlockInfo = Omit<BlockRecord, 'appHash'> & {
  readonly chainId: string
  /** Records of blocks below this height are removed, oldest first; a later commit may remove what one leaves. */
  readonly blocksFrom?: number
}

/** A state that was committed whole. */
export interface CommittedState extends StateReader {
  /** Height of the last committed block; 0 when nothing is. */
  height(): number
  /** Root of the hashed rows, 32 bytes; zeros when there are none. */
  appHash(): Uint8Array
  /** Time of the last committed block in Unix ms; 0 when there is none. */
  timeMs(): number
  /** Which chain's state this is; undefined until the first commit. */
  chainId(): string | undefined
  /** The committed block of `height`; undefined when there is none. */
  block(height: number): BlockRecord | undefined
  /**
   * The ICS-23 proof, against `appHash()`, that `key` has its row or has none; undefined in an empty tree, or for a
   * table not hashed.
   */
  prove<K extends object, R extends K, I extends string>(table: Table<K, R, I>, key: K): CommitmentProof | undefined
  /**
   * The root worked out anew from every hashed row, by definition and without the stored tree. Cost: grows with the
   * whole state.
   */
  recomputeRoot(): Uint8Array
}

/** A block's effect, worked out and not written. Made by `prepare`, used once by `commit` of the same store. */
export interface PreparedBlock {
  readonly appHash: Uint8Array
  readonly changes: readonly Change[]
}

/** Reads committed states while blocks go on. */
export interface Reader {
  /**
   * Runs `fn` on one committed state: no commit falls within it. Nothing of `state` may be used once `fn` returned: it
   * is synchronous.
   */
  read<T>(fn: (state: CommittedState) => T): T
  close(): void
}

/**
 * Where the chain's state is kept. Its own reads give committed rows. A scan that is walked on after a write throws.
 */
export interface Store extends CommittedState {
  /**
   * The app hash and the rows that committing `overlay` would lead to; writes nothing. The overlay stands above this
   * store, with any number between. May be called again before a commit: each commit makes the others worthless.
   */
  prepare(overlay: Overlay): PreparedBlock
  /**
   * Writes a prepared block whole: rows, tree, height, time and app hash in one transaction, on disk when it returns.
   * Throws and leaves the state as it was when any part fails; also when the height is not above the last one, the
   * chain is another one, or something was committed since `prepare`.
   */
  commit(prepared: PreparedBlock, block: BlockInfo): void
  /**
   * Takes the last committed block back: rows, tree, height, time and app hash are those of the block before, in one
   * transaction, on disk when it returns; below the first one is an empty state. Rows of the node's own stay.
   * StoreError, and nothing changed, when the last thing that happened was no commit (one block is kept to be taken
   * back), or when the rows would not have the app hash committed before. `agree` hears of the block before when all of
   * it is ready to be written: what it throws goes through, and nothing changed.
   */
  rollback(agree?: (last: BlockRecord) => void): void
  /** A reader of its own. */
  reader(): Reader
  /** Writes one row of a table that is not hashed, at once and outside any block. */
  putLocal<K extends object, R extends K, I extends string>(table: Table<K, R, I>, row: R): void
  /** Removes one row of a table that is not hashed, at once and outside any block. */
  removeLocal<K extends object, R extends K, I extends string>(table: Table<K, R, I>, key: K): void
  close(): void
}

/** A store that cannot be opened, for a reason that whoever runs the node can act on. One line. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** Throws unless `block` may follow what is committed. A bug of the caller: no block is ever committed twice. */
export function assertFollows(state: CommittedState, block: BlockInfo): void {
  if (!Number.isSafeInteger(block.height) || block.height <= state.height()) {
    throw new Error(`commit: height ${block.height} does not follow ${state.height()}`)
  }
  const chainId = state.chainId()
  if (chainId !== undefined && chainId !== block.chainId)
    throw new Error(`commit: this is the state of ${chainId}, not of ${block.chainId}`)
}

/** Throws unless `table` is the node's own: rows under the app hash change with blocks only. */
export function assertLocal(table: { readonly name: string; readonly hashed: boolean }): void {
  if (table.hashed) throw new Error(`table ${table.name} is under the app hash: only a block may write it`)
}

/** `rows` as long as `writes` stays what it is now: a walk of committed rows does not outlive them. */
export function unlessWritten<R>(rows: Iterable<R>, writes: () => number): Iterable<R> {
  const start = writes()
  const walk = function* (): Generator<R> {
    for (const row of rows) {
      if (writes() !== start) throw new Error('this walk of committed rows began before the last write')
      yield row
    }
  }
  return { [Symbol.iterator]: walk }
}

/** Throws when two tables share a name or a tag: both say whose a row is. */
export function assertTables(tables: readonly AnyTable[]): void {
  for (const member of ['name', 'tag'] as const) {
    const seen = new Set<string | number>()
    for (const table of tables) {
      if (seen.has(table[member])) throw new Error(`two tables have the ${member} ${table[member]}`)
      seen.add(table[member])
    }
  }
}
