import { makeCache } from './cache.ts'
import { idOf } from './sorted.ts'
import type { Scan } from './state.ts'

/** Rows of one walk that are kept: no duty of a block walks further, as a validator set has at most 200. */
const ROWS_SHARED_MAX = 256
/** Walks of one table that are kept, and all their rows together. */
const WALKS_KEPT = 1024
const ROWS_KEPT = 16_384

/** Walks of one table's committed rows, kept until it is written: most of what a block looks up is what the block before did. */
export interface ScanCache {
  /** The rows that `walk` gives for `scan`, each read once as long as it is kept. */
  scan(scan: Scan<string>, walk: () => Iterable<object>): Iterable<object>
  /** The table was written. */
  clear(): void
}

interface Walk { readonly rows: object[]; readonly rest: Iterator<object>; isWhole: boolean }

const nameOf = ({ index = '', prefix, reverse = false }: Scan<string>): string =>
  `${index}/${reverse ? 'd' : 'a'}/${prefix === undefined ? '' : idOf(prefix)}`

/** An empty cache. */
export function makeScanCache(): ScanCache {
  const walks = makeCache<string, Walk>(WALKS_KEPT)
  let rowsKept = 0
  const clear = (): void => {
    walks.clear()
    rowsKept = 0
  }

  /** The row at a place of a walk, read if need be; undefined behind its last one. */
  const rowAt = (walk: Walk, at: number): object | undefined => {
    if (at < walk.rows.length || walk.isWhole) return walk.rows[at]
    const next = walk.rest.next()
    if (next.done === true) walk.isWhole = true
    else {
      walk.rows.push(next.value)
      if (++rowsKept > ROWS_KEPT) clear()
    }
    return walk.rows[at]
  }

  function* sharedRows(shared: Walk, walk: () => Iterable<object>): Generator<object> {
    for (let at = 0; at < ROWS_SHARED_MAX; at++) {
      const row = rowAt(shared, at)
      if (row === undefined) return
      yield row
    }
    // Beyond them everybody walks alone, from the first row on.
    let passed = 0
    for (const row of walk()) if (++passed > ROWS_SHARED_MAX) yield row
  }

  return {
    scan: (scan, walk) => {
      const name = nameOf(scan)
      let shared = walks.get(name)
      if (shared === undefined) walks.set(name, shared = { rows: [], rest: walk()[Symbol.iterator](), isWhole: false })
      const found = shared
      return { [Symbol.iterator]: () => sharedRows(found, walk) }
    },
    clear,
  }
}
