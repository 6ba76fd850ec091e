import { address } from '../../values/account.ts'
import { uint } from '../../values/number.ts'
import { text } from '../../values/text.ts'
import type { SqlValue, ValueType as Column } from '../../values/valueType.ts'
import type { Table } from '../table.ts'

/** `camelCase` as `snake_case`: a member's column. */
export function columnName(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const quote = (name: string): string => `"${name}"`

// A table without a key has one row: its primary key is the constant 1.
const ONLY = 'only_row'

/** The primary key columns. */
export function keyColumns(table: Table): readonly string[] {
  const columns = Object.keys(table.key).map(columnName)
  return columns.length === 0 ? [ONLY] : columns
}

/** All columns, key first. */
export function allColumns(table: Table): readonly string[] {
  return [...keyColumns(table), ...Object.keys(table.row).map(columnName)]
}

/** Column names as they stand in SQL. */
export const listOf = (columns: readonly string[]): string => columns.map(quote).join(', ')

// Their SQL order is the byte order of their keys; that of base64 text is not.
const SQL_ORDERED: ReadonlySet<unknown> = new Set([uint, address, text])

/** True when the order of the primary key is that of the state keys, so that no side table has to keep it. */
export function isSqlOrdered(table: Table): boolean {
  const kinds = Object.values(table.key)
  return kinds.length === 0 || (kinds.length === 1 && SQL_ORDERED.has(kinds[0]))
}

/** The orders that side tables keep: the indexes, and '' for the state keys' own where SQL does not have it. */
export function sideOrders(table: Table): readonly string[] {
  return [...(isSqlOrdered(table) ? [] : ['']), ...Object.keys(table.indexes)]
}

/** Name of the side table of one order. */
export function sideName(table: Table, index: string): string {
  return `ix_${table.name}_${index === '' ? 'state_key' : columnName(index)}`
}

function columnSql(table: Table): readonly string[] {
  const key = Object.entries(table.key).map(([member, kind]) => `${quote(columnName(member))} ${kind.sqlType} NOT NULL`)
  return key.length === 0 ? [`${quote(ONLY)} INTEGER NOT NULL CHECK (${quote(ONLY)} = 1)`] : key
}

const createTable = (name: string, parts: readonly string[]): string =>
  `CREATE TABLE ${name} (${parts.join(', ')}) WITHOUT ROWID, STRICT`

/**
 * CREATE TABLE of the rows: amounts as decimal text, addresses as 0x text, keys as base64, so that a person can read
 * them.
 */
export function tableSql(table: Table): string {
  const row = Object.entries(table.row).map(([member, kind]) => `${quote(columnName(member))} ${kind.sqlType} NOT NULL`)
  return createTable(quote(table.name), [...columnSql(table), ...row, `PRIMARY KEY (${listOf(keyColumns(table))})`])
}

/** CREATE TABLE of one order: index key and state key, then the row's primary key. */
export function sideSql(table: Table, index: string): string {
  // A row's column of the name key gives way to the order's own.
  const columns = columnSql(table).map((column) => column.replaceAll('"key"', '"row_key"'))
  return createTable(quote(sideName(table, index)), ['"key" BLOB NOT NULL', ...columns, 'PRIMARY KEY ("key")'])
}

/** The store's own tables by name: what is not a row of a module. */
export const OWN_TABLES: Readonly<Record<string, string>> = {
  meta: createTable('meta', ['name TEXT NOT NULL PRIMARY KEY', 'value TEXT NOT NULL']),
  blocks: createTable('blocks', [
    'height INTEGER NOT NULL PRIMARY KEY',
    'time_ms INTEGER NOT NULL',
    'app_hash TEXT NOT NULL',
    'transactions INTEGER NOT NULL',
  ]),
  // One row: what takes the last block back.
  undo: createTable('undo', ['height INTEGER NOT NULL PRIMARY KEY', 'rows_before BLOB NOT NULL']),
  // As of the last block that is in no row of tree_changes. With a rowid: its inner pages hold keys alone, 400 of them.
  tree_pages: 'CREATE TABLE tree_pages (path INTEGER NOT NULL PRIMARY KEY, page BLOB NOT NULL) STRICT',
  tree_changes: createTable('tree_changes', ['height INTEGER NOT NULL PRIMARY KEY', 'leaves BLOB NOT NULL']),
  tree_keys: createTable('tree_keys', ['key_hash BLOB NOT NULL PRIMARY KEY', 'state_key BLOB NOT NULL']),
}

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
