import type { ColumnType, SqlValue } from '../../values/column.ts'
import type { Table } from '../table.ts'
import { failCorrupt } from '../../base/sqlite.ts'

/** The name of a field's column: camelCase as snake_case. */
export function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const quote = (name: string): string => `"${name}"`

// A table without a key has one row: its primary key is the constant 1.
const ONLY = 'only_row'

/** The columns of the primary key. */
export function keyColumns(table: Table): readonly string[] {
  const columns = Object.keys(table.key).map(columnName)
  return columns.length === 0 ? [ONLY] : columns
}

/** All columns, those of the key first. */
export function allColumns(table: Table): readonly string[] {
  return [...keyColumns(table), ...Object.keys(table.row).map(columnName)]
}

/** Column names as a list in SQL. */
export const listOf = (columns: readonly string[]): string => columns.map(quote).join(', ')

/** True when the primary key is in the order of the state keys, so that no index table has to keep that order. */
export function isSqlOrdered(table: Table): boolean {
  const [type, ...more] = Object.values(table.key)
  return more.length === 0 && type?.isSqlOrdered !== false
}

/** The indexes that have a table in SQL: those declared, and '' for the order of the state keys where the primary key has another. */
export function indexesInSql(table: Table): readonly string[] {
  return [...(isSqlOrdered(table) ? [] : ['']), ...Object.keys(table.indexes)]
}

/** The name of the table that keeps an index. */
export function indexTableName(table: Table, index: string): string {
  return `ix_${table.name}_${index === '' ? 'state_key' : columnName(index)}`
}

/** CREATE TABLE, without a rowid. */
export const createTableSql = (name: string, parts: readonly string[]): string =>
  `CREATE TABLE ${name} (${parts.join(', ')}) WITHOUT ROWID, STRICT`

const columnsSql = (columns: Readonly<Record<string, ColumnType<unknown>>>): readonly string[] =>
  Object.entries(columns).map(([field, { sqlType }]) => `${quote(columnName(field))} ${sqlType} NOT NULL`)

const keyColumnsSql = ({ key }: Table): readonly string[] =>
  Object.keys(key).length === 0 ? [`${quote(ONLY)} INTEGER NOT NULL CHECK (${quote(ONLY)} = 1)`] : columnsSql(key)

/** CREATE TABLE of the rows. Amounts are decimal text, addresses 0x text and keys base64, so that a person can read them. */
export function tableSql(table: Table): string {
  const primaryKey = `PRIMARY KEY (${listOf(keyColumns(table))})`
  return createTableSql(quote(table.name), [...keyColumnsSql(table), ...columnsSql(table.row), primaryKey])
}

/** CREATE TABLE of one index: the sort key of each row (index key, then state key), then the row's primary key. */
export function indexTableSql(table: Table, index: string): string {
  // A column of the row that is called "key" gives way to the sort key.
  const columns = keyColumnsSql(table).map((column) => column.replaceAll('"key"', '"row_key"'))
  const name = quote(indexTableName(table, index))
  return createTableSql(name, ['"key" BLOB NOT NULL', ...columns, 'PRIMARY KEY ("key")'])
}

function failValue(table: string, field: string, value: SqlValue): never {
  const shown = String(value).slice(0, 60)
  failCorrupt('SQLITE_CORRUPT_ROW', `${table}.${field}: the state holds ${shown}, which it never wrote`)
}

function readValue(table: string, field: string, type: ColumnType<unknown>, value: SqlValue): unknown {
  if (typeof value !== (type.sqlType === 'INTEGER' ? 'bigint' : 'string')) failValue(table, field, value)
  if (typeof value === 'bigint' && BigInt.asIntN(54, value) !== value) failValue(table, field, value)
  try {
    return type.fromSql(value)
  } catch {
    return failValue(table, field, value)
  }
}

/** Maps the rows and keys of one table to SQL values and back. */
export type RowMapper = ReturnType<typeof createRowMapper>

/** Creates the mapper of a table from its columns. */
export function createRowMapper(table: Table) {
  const keyTypes = Object.entries(table.key)
  const restTypes = Object.entries(table.row)
  const all = [...keyTypes, ...restTypes]
  const first = keyTypes.length === 0 ? 1 : 0
  const toSql = (types: typeof restTypes, row: object): SqlValue[] =>
    types.map(([field, type]) => {
      const value = (row as Readonly<Record<string, unknown>>)[field]
      return type.sqlType === 'INTEGER' ? BigInt(value as number) : type.print(value)
    })
  const read = (types: typeof restTypes, raw: readonly unknown[]): object => {
    const values: Record<string, unknown> = {}
    for (let position = 0; position < types.length; position++) {
      const [field, type] = types[position] as (typeof types)[number]
      values[field] = readValue(table.name, field, type, raw[first + position] as SqlValue)
    }
    return values
  }
  return {
    keyToSql: (key: object): SqlValue[] => (keyTypes.length === 0 ? [1n] : toSql(keyTypes, key)),
    /** All columns but those of the key. */
    restToSql: (row: object): SqlValue[] => toSql(restTypes, row),
    /** The key of its columns. */
    keyFromSql: (raw: readonly unknown[]): object => read(keyTypes, raw),
    /** The row of all columns. Throws for a value that the store never wrote. */
    fromSql: (raw: readonly unknown[]): object => Object.freeze(read(all, raw)),
  }
}
