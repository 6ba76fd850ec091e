import type { MapKey, Table } from '../table.ts'

/** The most memory that the rows kept may cost, as counted by `costOf`: 131,000 rows of 3 columns. */
const ROW_CACHE_BYTES_MAX = 64 * 1024 * 1024

// Measured on Node 24.21 as heapUsed over rows that were read from SQLite. Beside its texts, a row of 3 columns costs 184
// bytes, one of 17 columns 374, and one of 30 columns 2,134, as V8 keeps that many columns in a hash table. A text costs a
// byte a character, and two when one of its characters is beyond Latin-1.
const ENTRY_BYTES = 128
const COLUMN_BYTES = 72
const CHARACTER_BYTES = 2

const textCost = (value: unknown): number => (typeof value === 'string' ? CHARACTER_BYTES * value.length : 0)

/** Returns what keeping a row of `table` costs. It is never less than the memory used. */
export function costOf(table: Table): (id: MapKey, row: object | null) => number {
  const columns = [...Object.keys(table.key), ...Object.keys(table.row)]
  const rowBytes = ENTRY_BYTES + COLUMN_BYTES * columns.length
  return (id, row) => {
    if (row === null) return ENTRY_BYTES + textCost(id)
    let cost = rowBytes + textCost(id)
    for (const column of columns) cost += textCost((row as Readonly<Record<string, unknown>>)[column])
    return cost
  }
}

/** The rows last read and written, as they are on disk. */
export type RowCache = ReturnType<typeof createRowCache>

/** The rows of one table by their map keys, in two generations. */
interface TableRows {
  readonly costOf: ReturnType<typeof costOf>
  recent: Map<MapKey, object | null>
  older: Map<MapKey, object | null>
}

/**
 * Creates an empty cache for the rows of `tables`, which share its memory: a table of long texts takes no more than that.
 * A generation of rows costs at most half of `bytesMax`. When the recent one is full, it becomes the older one, and the
 * rows are forgotten that were not used since the last time. quick-lru does the same by the number of rows, which bounds
 * no memory. lru-cache bounds it too, and makes a block more than 2 % dearer.
 */
export function createRowCache(tables: readonly Table[], bytesMax = ROW_CACHE_BYTES_MAX) {
  const byTag: TableRows[] = []
  for (const table of tables) byTag[table.tag] = { costOf: costOf(table), recent: new Map(), older: new Map() }
  /** What the recent rows of all tables cost. */
  let cost = 0

  const turn = (): void => {
    for (const { tag } of tables) {
      const rows = byTag[tag] as TableRows
      rows.older = rows.recent
      rows.recent = new Map()
    }
    cost = 0
  }
  const set = (table: Table, id: MapKey, row: object | null): void => {
    const rows = byTag[table.tag] as TableRows
    const before = rows.recent.get(id)
    if (before !== undefined) cost -= rows.costOf(id, before)
    const added = rows.costOf(id, row)
    if (cost + added > bytesMax / 2) turn()
    rows.recent.set(id, row)
    cost += added
  }
  return {
    /** Null when there is no such row, undefined when the cache does not know. */
    get: (table: Table, id: MapKey): object | null | undefined => {
      const rows = byTag[table.tag]
      const recent = rows?.recent.get(id)
      if (recent !== undefined) return recent
      const older = rows?.older.get(id)
      if (older !== undefined) set(table, id, older)
      return older
    },
    set,
    clear: (): void => {
      turn()
      turn()
    },
  }
}
