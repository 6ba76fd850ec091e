import { compareBytes } from '../base/bytes.ts'
import { createSortedMap, type SortedMap } from '../base/sortedMap.ts'
import { byCodeUnit, entriesOf, fromLatin1, toLatin1 } from './sorted.ts'
import type { RevertibleState, Scan, StateReader } from './state.ts'
import type { MapKey, Table } from './table.ts'

/** One row that differs from the state below. `before` and `after` are undefined where there is no row. */
export interface Change {
  readonly table: Table
  /** The state key, with its tag. */
  readonly key: Uint8Array
  readonly before: object | undefined
  readonly after: object | undefined
  /** The bytes of `after` that are hashed; undefined for a removed row, and in a table that is not hashed. */
  readonly value: Uint8Array | undefined
}

/** Copy-on-write rows above a state, which are kept or dropped as a whole. */
export interface Overlay extends RevertibleState {
  /** The state that this overlay was created above. */
  readonly below: StateReader
  /**
   * The rows that differ from `base`, which is `below` or any state further down. A row that was written back to what it
   * was is left out. Throws when `base` is not below this overlay. The cost grows with the number of rows written.
   */
  changes(base?: StateReader): readonly Change[]
}

/** A row in a sorted index of an overlay; undefined hides the row below at the same sort key. */
interface IndexEntry {
  readonly row: object | undefined
  /** True when the state below has a row at this sort key too: this entry stands in its place. */
  readonly isBelow: boolean
}

/** By sort key. */
type IndexEntries = SortedMap<string, IndexEntry>

/** A row that was written; undefined stands for no row. */
interface Cell {
  readonly writes: TableWrites
  readonly id: MapKey
  readonly key: object
  /** As the state below has it. */
  readonly below: object | undefined
  row: object | undefined
  /** As it was at the savepoint `savedAt`. */
  saved: object | undefined
  savedAt: number
  /** The savepoint after which it was written for the first time. */
  readonly since: number
}

/** What an overlay holds of one table. */
interface TableWrites {
  readonly table: Table
  readonly cells: Map<MapKey, Cell>
  /** By index name, or '' for the order of the state keys. Built when it is first scanned: most tables are only read by key. */
  readonly indexes: Map<string, IndexEntries>
}

/** The end of the texts that sort a row: its state key without the tag. */
export const tailOf = (stateKey: Uint8Array): string => toLatin1(stateKey.subarray(1))

/**
 * The text that sorts a row in an index: its index key, then its state key without the tag. Undefined for a row that is
 * not in the index, and for no row. `tail`: the `tailOf` of its state key, where the caller has it. Throws for an index
 * that the table does not have.
 */
export function sortKeyOf(table: Table, index: string, row: object | undefined, tail?: string): string | undefined {
  if (row === undefined) return undefined
  if (index === '') return tail ?? tailOf(table.keyOf(row))
  const keyOf = table.indexes[index]
  if (keyOf === undefined) throw new Error(`table ${table.name} has no index ${index}`)
  const key = keyOf(row)
  return key === undefined ? undefined : toLatin1(key) + (tail ?? tailOf(table.keyOf(row)))
}

/** True when this row stands in an index under these bytes. */
export function hasIndexKey(table: Table, index: string, row: object | undefined, key: Uint8Array): boolean {
  const own = row === undefined ? undefined : table.indexes[index]?.(row)
  return own !== undefined && compareBytes(own, key) === 0
}

function hideBelow(entries: IndexEntries, sortKey: string | undefined): void {
  if (sortKey !== undefined) entries.set(sortKey, { row: undefined, isBelow: true })
}

/** Moves a row of an index from one sort key to another. */
function moveEntry(
  entries: IndexEntries,
  from: string | undefined,
  to: string | undefined,
  row: object | undefined,
): void {
  if (from !== undefined && from !== to) {
    if (entries.get(from)?.isBelow === true) hideBelow(entries, from)
    else entries.delete(from)
  }
  if (to !== undefined) entries.set(to, { row, isBelow: entries.get(to)?.isBelow === true })
}

/** Puts a cell into an index: its row, in place of the one below. */
function enter(entries: IndexEntries, index: string, { writes: { table }, below, row }: Cell): void {
  hideBelow(entries, sortKeyOf(table, index, below))
  moveEntry(entries, undefined, sortKeyOf(table, index, row), row)
}

function createIndex({ cells }: TableWrites, index: string): IndexEntries {
  const entries = createSortedMap<string, IndexEntry>(byCodeUnit)
  for (const cell of cells.values()) enter(entries, index, cell)
  return entries
}

/** Merges an overlay's entries with the rows below, in order. An entry hides the row below that has its sort key. */
function* merge(
  entries: Iterator<readonly [string, IndexEntry]>,
  rowsBelow: Iterable<object>,
  sortKey: (row: object) => string,
  reverse: boolean,
): Generator<object> {
  let own = entries.next()
  for (const row of rowsBelow) {
    if (own.done !== true) {
      const key = sortKey(row)
      while (own.done !== true && own.value[0] !== key && own.value[0] < key !== reverse) {
        if (own.value[1].row !== undefined) yield own.value[1].row
        own = entries.next()
      }
      if (own.done !== true && own.value[0] === key) {
        if (own.value[1].row !== undefined) yield own.value[1].row
        own = entries.next()
        continue
      }
    }
    yield row
  }
  for (; own.done !== true; own = entries.next()) if (own.value[1].row !== undefined) yield own.value[1].row
}

/** How many rows more than the state below a scan of an index gives. */
function countAbove(entries: IndexEntries, scan: Scan<string>): number {
  let count = 0
  for (const [, { row, isBelow }] of entriesOf(entries, scan)) count += (row === undefined ? 0 : 1) - (isBelow ? 1 : 0)
  return count
}

function changeOf(table: Table, { key, below: before, row: after }: Cell): Change | undefined {
  if (before === after || (before !== undefined && after !== undefined && table.isEqual(before, after)))
    return undefined
  const value = after === undefined || !table.hashed ? undefined : table.encode(after)
  return { table, key: table.keyOf(key), before, after, value }
}

/** What several overlays hold of one table above `base`, the uppermost overlay first. */
function cellsOf(stack: readonly TableWrites[], base: StateReader): Iterable<Cell> {
  const [top, ...lower] = stack as [TableWrites, ...TableWrites[]]
  if (lower.length === 0) return top.cells.values()
  const cells = new Map(top.cells)
  for (const writes of lower) for (const [id, cell] of writes.cells) if (!cells.has(id)) cells.set(id, cell)
  return [...cells.values()].map((cell) => ({ ...cell, below: base.get(top.table, cell.key) }))
}

class LayeredOverlay implements Overlay {
  readonly below: StateReader
  /** By the table's tag. */
  readonly tables: (TableWrites | undefined)[] = []
  /** What was written since the savepoint; undefined without one. */
  #undoLog: Cell[] | undefined
  /** How many savepoints there were. */
  #savepoint = 0

  constructor(below: StateReader) {
    this.below = below
  }

  #set(table: Table, id: MapKey, key: object, row: object | undefined): void {
    const writes = (this.tables[table.tag] ??= { table, cells: new Map(), indexes: new Map() })
    const cell = writes.cells.get(id) ?? this.#hold(writes, id, key)
    if (this.#undoLog !== undefined && cell.savedAt !== this.#savepoint) {
      cell.saved = cell.row
      cell.savedAt = this.#savepoint
      this.#undoLog.push(cell)
    }
    this.#write(cell, row)
  }

  /** Begins to hold a row, as the state below has it. */
  #hold(writes: TableWrites, id: MapKey, key: object): Cell {
    const below = this.below.get(writes.table, key)
    const cell = { writes, id, key, below, row: below, saved: below, savedAt: 0, since: this.#savepoint }
    writes.cells.set(id, cell)
    for (const [index, entries] of writes.indexes) enter(entries, index, cell)
    return cell
  }

  /** Writes one row, and moves it in the indexes that were built. */
  #write(cell: Cell, row: object | undefined): void {
    const { table, indexes } = cell.writes
    if (indexes.size > 0) {
      const tail = tailOf(table.keyOf(cell.key))
      // All sort keys are worked out first: an index that throws leaves every index as it was.
      const moves = [...indexes].map(([index, entries]) => ({
        entries,
        from: sortKeyOf(table, index, cell.row, tail),
        to: sortKeyOf(table, index, row, tail),
      }))
      for (const { entries, from, to } of moves) moveEntry(entries, from, to, row)
    }
    cell.row = row
  }

  #indexOf(writes: TableWrites, index: string): IndexEntries {
    let entries = writes.indexes.get(index)
    if (entries === undefined) writes.indexes.set(index, (entries = createIndex(writes, index)))
    return entries
  }

  get<K extends object, R extends K>(table: Table<K, R>, key: K): R | undefined {
    const cell = this.tables[table.tag]?.cells.get(table.mapKey(key))
    return cell === undefined ? this.below.get(table, key) : (cell.row as R | undefined)
  }

  find<K extends object, R extends K, I extends string>(
    table: Table<K, R, I>,
    index: I,
    key: Uint8Array,
  ): R | undefined {
    const below = this.below.find(table, index, key)
    const writes = this.tables[table.tag]
    if (writes === undefined) return below
    // PERF: most rows that are written keep their index keys, so that the index need not be built and kept.
    if (below !== undefined) {
      const cell = writes.cells.get(table.mapKey(below))
      if (cell === undefined) return below
      if (hasIndexKey(table, index, cell.row, key)) return cell.row as R
    }
    for (const [, { row }] of entriesOf(this.#indexOf(writes, index), { prefix: key }))
      if (hasIndexKey(table, index, row, key)) return row as R
    return undefined
  }

  scan<K extends object, R extends K, I extends string>(table: Table<K, R, I>, scan: Scan<I> = {}): Iterable<R> {
    const { index = '', reverse = false } = scan
    const rowsBelow = this.below.scan(table, scan)
    const writes = this.tables[table.tag]
    if (writes === undefined) return rowsBelow
    const entries = this.#indexOf(writes, index).clone() // as of now, whatever is written during the walk
    const sortKey = (row: object): string => sortKeyOf(table, index, row) as string
    return {
      [Symbol.iterator]: () => merge(entriesOf(entries, scan), rowsBelow, sortKey, reverse) as Iterator<R>,
    }
  }

  count<K extends object, R extends K, I extends string>(table: Table<K, R, I>, scan: Scan<I> = {}): number {
    const writes = this.tables[table.tag]
    const countBelow = this.below.count(table, scan)
    return writes === undefined ? countBelow : countBelow + countAbove(this.#indexOf(writes, scan.index ?? ''), scan)
  }

  rank<K extends object, R extends K, I extends string>(table: Table<K, R, I>, index: I, row: R): number {
    const writes = this.tables[table.tag]
    const rankBelow = this.below.rank(table, index, row)
    if (writes === undefined) return rankBelow
    const before = fromLatin1(sortKeyOf(table, index, row) as string)
    return rankBelow + countAbove(this.#indexOf(writes, index), { before })
  }

  put<K extends object, R extends K>(table: Table<K, R>, row: R): void {
    this.#set(table, table.mapKey(row), row, table.isDefault(row) ? undefined : Object.freeze(row))
  }

  remove<K extends object, R extends K>(table: Table<K, R>, key: K): void {
    this.#set(table, table.mapKey(key), key, undefined)
  }

  changes(base: StateReader = this.below): readonly Change[] {
    const stacks: TableWrites[][] = []
    for (let state: StateReader = this; state !== base; state = state.below) {
      if (!(state instanceof LayeredOverlay)) throw new Error('changes: the state asked for is not below this overlay')
      for (const writes of state.tables) if (writes !== undefined) (stacks[writes.table.tag] ??= []).push(writes)
    }
    const changes: Change[] = []
    for (const stack of stacks) {
      if (stack === undefined) continue // a hole: no table with this tag was written
      const { table } = stack[0] as TableWrites
      for (const cell of cellsOf(stack, base)) {
        const change = changeOf(table, cell)
        if (change !== undefined) changes.push(change)
      }
    }
    return changes
  }

  savepoint(): void {
    this.#savepoint++
    this.#undoLog = []
  }

  release(): void {
    this.#undoLog = undefined
  }

  rollback(): void {
    for (const cell of this.#undoLog ?? []) {
      this.#write(cell, cell.saved)
      const { cells, indexes } = cell.writes
      // An index keeps an entry for every row that was ever written: it then holds the row below.
      if (cell.since === this.#savepoint && indexes.size === 0) cells.delete(cell.id)
    }
    this.#undoLog = undefined
  }
}

const NO_ROWS: StateReader = {
  get: (table, key) => table.derived?.derive(NO_ROWS, key),
  find: () => undefined,
  scan: () => [],
  count: () => 0,
  rank: () => 0,
}

/**
 * Creates an empty overlay above `below`, or above no rows at all. `below` must not be written while the overlay is in
 * use. This costs next to nothing. Rows are frozen when they are put. A scan of an index that the table does not have
 * throws.
 *
 * @example
 * const block = createOverlay(store)
 * block.savepoint()
 * block.put(balances, { owner: 'alice', amount: 5n, nonce: 1 })
 * block.rollback() // or release(), which keeps the row
 */
export const createOverlay = (below: StateReader = NO_ROWS): Overlay => new LayeredOverlay(below)
