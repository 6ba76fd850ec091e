import type { Table } from './table.ts'

/** Which rows of a table, in which order. */
export interface Scan<Index extends string> {
  /** In the order of this index, only rows that are in it; without it in the order of the state keys. */
  readonly index?: Index
  /** Only rows whose index key (or state key without its tag) starts with these bytes. */
  readonly prefix?: Uint8Array
  /** Only rows whose index key sorts before these bytes. Needs an index. */
  readonly before?: Uint8Array
  /** From the last to the first. */
  readonly reverse?: boolean
}

/**
 * The first of some rows; the rest is never read.
 *
 * @example
 * const richest = firstOf(store.scan(balances, { index: 'byAmount', reverse: true }))
 */
export function firstOf<R>(rows: Iterable<R>): R | undefined {
  for (const row of rows) return row
  return undefined
}

/**
 * The first of some rows, at most `count`; the rest is never read.
 *
 * @example
 * const [richest, second] = take(store.scan(balances, { index: 'byAmount', reverse: true }), 2)
 */
export function take<R>(rows: Iterable<R>, count: number): readonly R[] {
  const taken: R[] = []
  for (const row of rows) {
    taken.push(row)
    if (taken.length === count) break
  }
  return taken
}

/** Rows to read: a committed state, or an overlay above one. */
export interface StateReader {
  /** The row of `key`, or undefined. Rows are frozen. */
  get<K extends object, R extends K>(table: Table<K, R>, key: K): R | undefined
  /**
   * The row whose key in `index` is these bytes, or undefined. Only for an index whose keys have one length, and no two
   * rows the same. Costs about what `get` does.
   */
  find<K extends object, R extends K, I extends string>(table: Table<K, R, I>, index: I, key: Uint8Array): R | undefined
  /**
   * Rows in order, read as they are asked for: stop early and the rest is never read. The rows are those of the moment
   * of the call: writing while walking is allowed, and is not seen by the walk.
   */
  scan<K extends object, R extends K, I extends string>(table: Table<K, R, I>, scan?: Scan<I>): Iterable<R>
  /** How many rows `scan` would give. Cost: grows with that number, in the store, without making rows. */
  count<K extends object, R extends K, I extends string>(table: Table<K, R, I>, scan?: Scan<I>): number
  /** How many rows stand before `row` in an index that it is in. Cost as of `count`. */
  rank<K extends object, R extends K, I extends string>(table: Table<K, R, I>, index: I, row: R): number
}

/**
 * Rows to read and write. What is written is seen by every later read of the same overlay, and by nobody else until it
 * is kept.
 */
export interface State extends StateReader {
  /** Writes a whole row in place of the one of its key; a row of default values only is removed. */
  put<K extends object, R extends K>(table: Table<K, R>, row: R): void
  /** Removes the row of `key`, if there is one. */
  remove<K extends object, R extends K>(table: Table<K, R>, key: K): void
}

/** A state whose last writes can be taken back. One savepoint at a time. */
export interface RevertibleState extends State {
  /** Begins to note what is written. What an earlier savepoint noted is kept. */
  savepoint(): void
  /** Keeps what was written since the savepoint, and ends it. */
  release(): void
  /** Takes back what was written since the savepoint, and ends it: every read is again as it was there. */
  rollback(): void
}
