import { type Cache, makeCache } from '../cache.ts'
import { placeIn } from '../overlay.ts'
import { idOf } from '../sorted.ts'
import type { Scan } from '../state.ts'
import type { Table } from '../table.ts'

/** Rows of one walk that are kept: no duty of a block walks further, as a validator set has at most 200. */
const ROWS_SHARED_MAX = 256
/** Walks of one order that are kept, and all their rows together. */
const WALKS_KEPT = 1024
const ROWS_KEPT = 16_384

/**
 * Walks of one table's committed rows, kept until their order changes: most of what a block looks up is what the block
 * before did.
 */
export interface ScanCache {
  /** The rows that `walk` gives for `scan`, each read once as long as it is kept. */
  scan(scan: Scan<string>, walk: () => Iterable<object>): Iterable<object>
  /**
   * A row was written. Walks of an order in which it has another place than before are forgotten, the others give it as
   * it is now.
   */
  changed(before: object | undefined, after: object | undefined): void
  /** Whatever is kept may be wrong now. */
  clear(): void
}

interface Walk {
  rows: object[]
  readonly rest: Iterator<object>
  isWhole: boolean
  version: number
}

/** The walks of one order. */
interface Order {
  readonly walks: Cache<string, Walk>
  rowsKept: number
}

const nameOf = ({ prefix, reverse = false }: Scan<string>): string =>
  `${reverse ? 'd' : 'a'}/${prefix === undefined ? '' : idOf(prefix)}`

/** The row at a place of a walk, read if need be; undefined behind its last one. */
function rowAt(order: Order, walk: Walk, at: number): object | undefined {
  if (at < walk.rows.length || walk.isWhole) return walk.rows[at]
  const next = walk.rest.next()
  if (next.done === true) walk.isWhole = true
  else {
    walk.rows.push(next.value)
    if (++order.rowsKept > ROWS_KEPT) {
      order.walks.clear()
      order.rowsKept = 0
    }
  }
  return walk.rows[at]
}

/**
 * An empty cache of `table`. `now` gives the row of a key that is there, as it is now; walks of an index read rows by
 * it too.
 */
export function makeScanCache(table: Table, now: (key: object) => object): ScanCache {
  // By index; '' is the order of the state keys.
  const orders = new Map<string, Order>()
  let version = 0

  function* sharedRows(order: Order, shared: Walk, walk: () => Iterable<object>): Generator<object> {
    for (let at = 0; at < ROWS_SHARED_MAX; at++) {
      const row = rowAt(order, shared, at)
      if (row === undefined) return
      yield row
    }
    // Beyond them everybody walks alone, from the first row on.
    let passed = 0
    for (const row of walk()) if (++passed > ROWS_SHARED_MAX) yield row
  }

  /** The walk as it is now; undefined when it may hold rows, read and not yet given, as they were. */
  const upToDate = (walk: Walk | undefined, index: string): Walk | undefined => {
    if (walk === undefined || walk.version === version) return walk
    if (index === '' && !walk.isWhole) return undefined
    walk.rows = walk.rows.map(now)
    walk.version = version
    return walk
  }

  return {
    scan: (scan, walk) => {
      const { index = '' } = scan
      const order = orders.get(index) ?? { walks: makeCache<string, Walk>(WALKS_KEPT), rowsKept: 0 }
      const name = nameOf(scan)
      let shared = upToDate(order.walks.get(name), index)
      if (shared === undefined) {
        // An index that the table lacks throws here, and then nothing is kept.
        order.walks.set(name, (shared = { rows: [], rest: walk()[Symbol.iterator](), isWhole: false, version }))
        orders.set(index, order)
      }
      const found = shared
      return { [Symbol.iterator]: () => sharedRows(order, found, walk) }
    },
    changed: (before, after) => {
      version++
      for (const index of orders.keys())
        if (placeIn(table, index, before) !== placeIn(table, index, after)) orders.delete(index)
    },
    clear: () => orders.clear(),
  }
}
