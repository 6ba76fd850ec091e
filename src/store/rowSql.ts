import type { Column, SqlValue } from './columns.ts'
import type { Table } from './table.ts'

/** A table's rows and keys as SQL values and back. A value that was never written throws. */
export interface RowSql {
  keyValues(key: object): SqlValue[]
  rowValues(row: object): SqlValue[]
  rowOf(raw: unknown[]): object
  /** The key in a raw row that begins with the key columns. */
  keyOf(raw: unknown[]): object
}

/**
 * A stored value that no column holds: somebody or something changed the file. Its code is one of storage's, so that it
 * stops the process and never becomes a verdict on a transaction (protocol.md §2, code 1000).
 */
function corrupt(where: string, value: SqlValue): never {
  const error = new Error(`${where}: the state holds ${String(value).slice(0, 60)}, which it never wrote`)
  throw Object.assign(error, { code: 'SQLITE_CORRUPT_ROW' })
}

function read(table: string, member: string, kind: Column<unknown>, value: SqlValue): unknown {
  if (typeof value !== (kind.sqlType === 'INTEGER' ? 'bigint' : 'string')) corrupt(`${table}.${member}`, value)
  if (typeof value === 'bigint' && BigInt.asIntN(54, value) !== value) corrupt(`${table}.${member}`, value)
  try {
    return kind.fromSql(value)
  } catch {
    return corrupt(`${table}.${member}`, value)
  }
}

/** Made from the table's columns. */
export function makeRowSql(table: Table): RowSql {
  const keys = Object.entries(table.key)
  const rows = Object.entries(table.row)
  const all = [...keys, ...rows]
  const skip = keys.length === 0 ? 1 : 0
  const only: SqlValue[] = skip === 1 ? [1n] : []
  const valuesOf = (columns: typeof rows, row: object): SqlValue[] =>
    columns.map(([member, kind]) => kind.toSql((row as Record<string, unknown>)[member]))
  const membersOf = (columns: typeof rows, raw: unknown[]): object => {
    const members: Record<string, unknown> = {}
    for (let at = 0; at < columns.length; at++) {
      const [member, kind] = columns[at] as (typeof columns)[number]
      members[member] = read(table.name, member, kind, raw[at + skip] as SqlValue)
    }
    return members
  }
  return {
    keyValues: (key) => (skip === 0 ? valuesOf(keys, key) : [...only]),
    rowValues: (row) => valuesOf(rows, row),
    rowOf: (raw) => Object.freeze(membersOf(all, raw)),
    keyOf: (raw) => membersOf(keys, raw),
  }
}
