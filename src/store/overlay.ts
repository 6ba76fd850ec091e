import { idOf, makeSorted, type Sorted, startingWith } from './sorted.ts'
import type { RevertibleState, Scan, StateReader } from './state.ts'
import type { MapKey, Table } from './table.ts'

/** One row that is not as it was below: `before` and `after` are undefined where there is no row. */
export interface Change {
  readonly table: Table
  /** The state key, with its tag. */
  readonly key: Uint8Array
  readonly before: object | undefined
  readonly after: object | undefined
  /** The bytes of `after` that are hashed; undefined for a removed row, and in a table that is not hashed. */
  readonly value: Uint8Array | undefined
}

/** Copy-on-write rows above a state: kept or dropped whole. */
export interface Overlay extends RevertibleState {
  /** What it was made above. */
  readonly below: StateReader
  /**
   * The rows that differ from `base`, which is `below` or anything further down; a row written back to what it was is
   * left out. Throws when `base` is not below this overlay. Cost: grows with the rows written.
   */
  changes(base?: StateReader): readonly Change[]
}

interface Slot {
  readonly row: object | undefined
  /** True when the layer below has a row at this place too: this slot stands instead of it. */
  readonly below: boolean
}

interface Layer {
  readonly table: Table
  /** Undefined: removed here, and its key is in `removed`. */
  readonly rows: Map<MapKey, object | undefined>
  readonly removed: Map<MapKey, object>
  /** By index name, or '' for the state key's order. Made when first asked for: most tables are only read by key. */
  readonly orders: Map<string, Sorted<Slot>>
}

// Between layers the key of the maps is worked out once, not in each of them.
const AT: unique symbol = Symbol('at')
const LAYERS: unique symbol = Symbol('layers')

interface Inner {
  readonly [AT]: (table: Table, id: MapKey, key: object) => object | undefined
  /** By the table's tag. */
  readonly [LAYERS]: readonly (Layer | undefined)[]
}

const innerOf = (state: StateReader): Inner | undefined => (AT in state ? (state as unknown as Inner) : undefined)

/** Where a row stands in an order: index key, then state key without its tag; undefined when it is not in the index. */
export function placeOf(table: Table, index: string, row: object, id: string): string | undefined {
  if (index === '') return id.slice(1)
  const make = table.indexes[index]
  if (make === undefined) throw new Error(`table ${table.name} has no index ${index}`)
  const key = make(row)
  return key === undefined ? undefined : idOf(key) + id.slice(1)
}

function move(order: Sorted<Slot>, from: string | undefined, to: string | undefined, row: object | undefined): void {
  if (from !== undefined) {
    if (order.get(from)?.below === true) order.set(from, { row: undefined, below: true })
    else order.delete(from)
  }
  if (to !== undefined) order.set(to, { row, below: order.get(to)?.below === true })
}

function firstTouch(order: Sorted<Slot>, place: string | undefined): void {
  if (place !== undefined) order.set(place, { row: undefined, below: true })
}

/** The key of an entry: its row's, or that of the row that was removed. */
const keyIn = ({ removed }: Layer, id: MapKey, row: object | undefined): object => row ?? (removed.get(id) as object)

/** `placeOf` by the row alone; undefined for no row too. */
export const placeIn = (table: Table, index: string, row: object | undefined): string | undefined =>
  row === undefined ? undefined : placeOf(table, index, row, idOf(table.keyOf(row)))

function makeOrder(layer: Layer, index: string, below: StateReader): Sorted<Slot> {
  const order = makeSorted<Slot>()
  const { table } = layer
  for (const [id, row] of layer.rows) {
    firstTouch(order, placeIn(table, index, below.get(table, keyIn(layer, id, row))))
    if (row !== undefined) move(order, undefined, placeIn(table, index, row), row)
  }
  return order
}

/** The rows of one layer and of the one below it, in order; a place that this layer holds hides the row below. */
function* merge(
  own: Iterator<readonly [string, Slot]>,
  lower: Iterable<object>,
  place: (row: object) => string,
  reverse: boolean,
): Generator<object> {
  let mine = own.next()
  for (const row of lower) {
    if (mine.done !== true) {
      const at = place(row)
      while (mine.done !== true && mine.value[0] !== at && mine.value[0] < at !== reverse) {
        if (mine.value[1].row !== undefined) yield mine.value[1].row
        mine = own.next()
      }
      if (mine.done !== true && mine.value[0] === at) {
        if (mine.value[1].row !== undefined) yield mine.value[1].row
        mine = own.next()
        continue
      }
    }
    yield row
  }
  for (; mine.done !== true; mine = own.next()) if (mine.value[1].row !== undefined) yield mine.value[1].row
}

function changeOf(
  table: Table,
  key: object,
  before: object | undefined,
  after: object | undefined,
): Change | undefined {
  if (before === after || (before !== undefined && after !== undefined && table.isEqual(before, after)))
    return undefined
  const value = after === undefined || !table.hashed ? undefined : table.encode(after)
  return { table, key: table.keyOf(key), before, after, value }
}

/** The rows of one table that the layers above `base` hold, the uppermost first. */
function rowsOf(layers: readonly Layer[]): ReadonlyMap<MapKey, object | undefined> {
  const [top, ...lower] = layers as [Layer, ...Layer[]]
  if (lower.length === 0) return top.rows
  const rows = new Map(top.rows)
  for (const layer of lower) for (const [id, row] of layer.rows) if (!rows.has(id)) rows.set(id, row)
  return rows
}

function changesAbove(top: Overlay, base: StateReader): Change[] {
  const byTable: Layer[][] = []
  for (let state: StateReader = top; state !== base; state = (state as Overlay).below) {
    const layers = innerOf(state)?.[LAYERS]
    if (layers === undefined) throw new Error('changes: the state asked for is not below this overlay')
    for (const layer of layers) if (layer !== undefined) (byTable[layer.table.tag] ??= []).push(layer)
  }
  const changes: Change[] = []
  for (const layers of byTable) {
    if (layers === undefined) continue // a hole: no table has this tag
    const { table } = layers[0] as Layer
    rowsOf(layers).forEach((after, id) => {
      const key = after ?? (layers.find(({ removed }) => removed.has(id))?.removed.get(id) as object)
      const change = changeOf(table, key, base.get(table, key), after)
      if (change !== undefined) changes.push(change)
    })
  }
  return changes
}

/** How many rows more than below an order holds under `prefix`, up to the place `end`. */
function extra(order: Sorted<Slot>, prefix: Uint8Array | undefined, end?: string): number {
  let count = 0
  for (const [place, slot] of startingWith(order, prefix === undefined ? '' : idOf(prefix), false)) {
    if (end !== undefined && place >= end) break
    count += (slot.row === undefined ? 0 : 1) - (slot.below ? 1 : 0)
  }
  return count
}

/** A write since the savepoint: what the layer held before it, if it held the row at all. */
interface Noted {
  readonly layer: Layer
  readonly id: MapKey
  readonly key: object
  readonly before: object | undefined
  readonly touched: boolean
}

class LayeredOverlay implements Overlay, Inner {
  readonly below: StateReader
  readonly [LAYERS]: (Layer | undefined)[] = []
  readonly #inner: Inner | undefined
  #noted: Noted[] | undefined
  // The row read or written last: a transaction asks for its sender's account again and again.
  #lastTable: Table | undefined
  #lastId: MapKey = ''
  #lastRow: object | undefined

  constructor(below: StateReader) {
    this.below = below
    this.#inner = innerOf(below)
  }

  #readBelow(table: Table, id: MapKey, key: object): object | undefined {
    return this.#inner === undefined ? this.below.get(table, key) : this.#inner[AT](table, id, key)
  }

  [AT](table: Table, id: MapKey, key: object): object | undefined {
    if (table !== this.#lastTable || id !== this.#lastId) this.#remember(table, id, this.#find(table, id, key))
    return this.#lastRow
  }

  #remember(table: Table, id: MapKey, row: object | undefined): void {
    this.#lastTable = table
    this.#lastId = id
    this.#lastRow = row
  }

  #find(table: Table, id: MapKey, key: object): object | undefined {
    const rows = this[LAYERS][table.tag]?.rows
    if (rows !== undefined) {
      const row = rows.get(id)
      if (row !== undefined || rows.has(id)) return row
    }
    return this.#readBelow(table, id, key)
  }

  #set(table: Table, id: MapKey, key: object, row: object | undefined): void {
    const layer = (this[LAYERS][table.tag] ??= { table, rows: new Map(), removed: new Map(), orders: new Map() })
    if (this.#noted !== undefined) {
      const before = layer.rows.get(id)
      this.#noted.push({ layer, id, key, before, touched: before !== undefined || layer.rows.has(id) })
    }
    this.#write(layer, id, key, row)
  }

  /** Writes one row of a layer and brings the orders that were asked for along. */
  #write(layer: Layer, id: MapKey, key: object, row: object | undefined): void {
    const { table, rows, removed, orders } = layer
    if (orders.size > 0) {
      const touched = rows.has(id)
      const before = touched ? rows.get(id) : this.#readBelow(table, id, key)
      // All places first: an index that throws leaves every order as it was.
      const moves = [...orders].map(([index, order]) => ({
        order,
        from: placeIn(table, index, before),
        to: placeIn(table, index, row),
      }))
      for (const { order, from, to } of moves) {
        if (!touched) firstTouch(order, from)
        move(order, from, to, row)
      }
    }
    rows.set(id, row)
    if (row === undefined) removed.set(id, key)
    this.#remember(table, id, row)
  }

  #orderOf(layer: Layer, index: string): Sorted<Slot> {
    let order = layer.orders.get(index)
    if (order === undefined) layer.orders.set(index, (order = makeOrder(layer, index, this.below)))
    return order
  }

  get<K extends object, R extends K>(asked: Table<K, R>, key: K): R | undefined {
    const table = asked as unknown as Table
    return this[AT](table, table.mapKey(key), key) as R | undefined
  }

  scan<K extends object, R extends K, I extends string>(asked: Table<K, R, I>, scan: Scan<I> = {}): Iterable<R> {
    const table = asked as unknown as Table
    const { index = '', prefix, reverse = false } = scan as Scan<string>
    const lower = this.below.scan(table, {
      ...(index === '' ? {} : { index }),
      ...(prefix === undefined ? {} : { prefix }),
      reverse,
    })
    const layer = this[LAYERS][table.tag]
    if (layer === undefined) return lower as Iterable<R>
    const order = this.#orderOf(layer, index).clone() // as of now, whatever is written while it is walked
    const start = prefix === undefined ? '' : idOf(prefix)
    const place = (row: object): string => placeIn(table, index, row) as string
    return { [Symbol.iterator]: () => merge(startingWith(order, start, reverse), lower, place, reverse) as Iterator<R> }
  }

  count<K extends object, R extends K, I extends string>(asked: Table<K, R, I>, scan: Scan<I> = {}): number {
    const table = asked as unknown as Table
    const layer = this[LAYERS][table.tag]
    const lower = this.below.count(table, scan as Scan<string>)
    return layer === undefined ? lower : lower + extra(this.#orderOf(layer, scan.index ?? ''), scan.prefix)
  }

  rank<K extends object, R extends K, I extends string>(asked: Table<K, R, I>, index: I, row: R): number {
    const table = asked as unknown as Table
    const layer = this[LAYERS][table.tag]
    const lower = this.below.rank(table, index, row)
    return layer === undefined
      ? lower
      : lower + extra(this.#orderOf(layer, index), undefined, placeIn(table, index, row))
  }

  put<K extends object, R extends K>(asked: Table<K, R>, row: R): void {
    const table = asked as unknown as Table
    this.#set(table, table.mapKey(row), row, table.isDefault(row) ? undefined : Object.freeze(row))
  }

  remove<K extends object, R extends K>(asked: Table<K, R>, key: K): void {
    const table = asked as unknown as Table
    this.#set(table, table.mapKey(key), key, undefined)
  }

  changes(base: StateReader = this.below): readonly Change[] {
    return changesAbove(this, base)
  }

  savepoint(): void {
    this.#noted = []
  }

  release(): void {
    this.#noted = undefined
  }

  rollback(): void {
    const noted = this.#noted ?? []
    this.#noted = undefined
    for (let at = noted.length - 1; at >= 0; at--) {
      const { layer, id, key, before, touched } = noted[at] as Noted
      if (touched) this.#write(layer, id, key, before)
      // An order keeps the row's place: what stands there is then the row below.
      else if (layer.orders.size > 0) this.#write(layer, id, key, this.#readBelow(layer.table, id, key))
      else layer.rows.delete(id)
    }
    this.#lastTable = undefined
  }
}

/**
 * An empty overlay above `below`, which must not be written while the overlay is in use. Costs next to nothing to make.
 * Rows are frozen as they are put. An index that `table` lacks throws.
 */
export const makeOverlay = (below: StateReader): Overlay => new LayeredOverlay(below)
