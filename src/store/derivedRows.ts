import type { Change } from './overlay.ts'
import type { StateReader } from './state.ts'
import type { Table } from './table.ts'

/**
 * The most entries that derived rows may hold in memory, as counted by `sizeOf`. An entry of a Map by number costs 36
 * bytes (Node 24.21, 200 entries a Map), so all of them 36 MB.
 */
const ENTRIES_MAX = 1_000_000

/** The rows of derived tables as they follow from the committed rows. */
export type DerivedRows = ReturnType<typeof createDerivedRows>

/**
 * Creates the memory of derived rows above the committed rows `state`. Above ENTRIES_MAX entries, the rows that were
 * written longest ago are forgotten: a row that is missing costs time, and is never wrong.
 */
export function createDerivedRows(state: StateReader, entriesMax = ENTRIES_MAX) {
  const rows = new Map<string, { readonly row: object; readonly size: number }>()
  let entries = 0

  const idOf = (table: Table, key: object): string => `${table.tag} ${table.mapKey(key)}`
  const forget = (id: string): void => {
    entries -= rows.get(id)?.size ?? 0
    rows.delete(id)
  }
  const remember = (id: string, { derived }: Table, row: object): void => {
    forget(id)
    // A key without entries takes memory too.
    const size = 1 + (derived?.sizeOf(row) ?? 0)
    rows.set(id, { row, size })
    entries += size
    for (const oldest of rows.keys()) {
      if (entries <= entriesMax) return
      forget(oldest)
    }
  }
  return {
    /** The row of `key`. It is computed when it is not in memory, and then kept there. */
    get: (table: Table, key: object): object => {
      const id = idOf(table, key)
      const known = rows.get(id)
      if (known !== undefined) return known.row
      if (table.derived === undefined) throw new Error(`table ${table.name} is not derived`)
      const row = Object.freeze(table.derived.derive(state, key))
      remember(id, table, row)
      return row
    },
    /** Brings the rows in memory up to date with a commit. */
    keep: (changes: readonly Change[]): void => {
      for (const { table, before, after } of changes) {
        if (table.derived === undefined) continue
        if (after !== undefined) remember(idOf(table, after), table, after)
        else if (before !== undefined) forget(idOf(table, before))
      }
    },
    /** Forgets every row. Must be called when committed rows change in any other way. */
    clear: (): void => {
      rows.clear()
      entries = 0
    },
  }
}
