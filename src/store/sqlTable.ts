import type { Connection } from './connection.ts'
import { allColumns, keyColumns, listOf, sideName, sideOrders } from './ddl.ts'
import { placeOf } from './overlay.ts'
import { makeRowSql } from './rowSql.ts'
import { bytesOf, idOf } from './sorted.ts'
import { makeSqlScan, type SqlScan } from './sqlScan.ts'
import type { Table } from './table.ts'

/** The SQL of one table on one connection. Errors of SQLite go through as they are. */
export interface SqlTable extends SqlScan {
  get(key: object): object | undefined
  /** Brings the row and the side tables from `before`, which is what the file holds, to `after`. */
  write(key: Uint8Array, before: object | undefined, after: object | undefined): void
  /** Writes the side table of one order anew from the rows. */
  fillSide(index: string): void
}

const marks = (count: number): string => new Array(count).fill('?').join(', ')
const equalTo = (columns: readonly string[]): readonly string[] => columns.map((column) => `"${column}" = ?`)

/** The reads and writes of `table` on `connection`, which has the tables of `ddl.ts`. */
export function makeSqlTable(connection: Connection, table: Table): SqlTable {
  const { statement } = connection
  const rowSql = makeRowSql(table)
  const { keyValues, rowValues, rowOf } = rowSql
  const name = `"${table.name}"`
  const keys = keyColumns(table)
  const columns = allColumns(table)
  const isKey = equalTo(keys).join(' AND ')
  const sql = {
    get: `SELECT ${listOf(columns)} FROM ${name} WHERE ${isKey}`,
    insert: `INSERT INTO ${name} (${listOf(columns)}) VALUES (${marks(columns.length)})`,
    update: `UPDATE ${name} SET ${equalTo(columns.slice(keys.length)).join(', ')} WHERE ${isKey}`,
    remove: `DELETE FROM ${name} WHERE ${isKey}`,
  }
  const sides = sideOrders(table).map((index) => {
    const side = `"${sideName(table, index)}"`
    return {
      index,
      insert: `INSERT INTO ${side} VALUES (${marks(1 + keys.length)})`,
      remove: `DELETE FROM ${side} WHERE "key" = ?`,
    }
  })

  const writeSides = (id: string, before: object | undefined, after: object | undefined, only?: string): void => {
    for (const { index, insert, remove } of sides) {
      if (only !== undefined && index !== only) continue
      const from = before === undefined ? undefined : placeOf(table, index, before, id)
      const to = after === undefined ? undefined : placeOf(table, index, after, id)
      if (from === to) continue
      if (from !== undefined) statement(remove).run(bytesOf(from))
      if (to !== undefined) statement(insert).run(bytesOf(to), ...keyValues(after as object))
    }
  }

  const writeRow = (key: Uint8Array, before: object | undefined, after: object | undefined): number => {
    if (after === undefined) return statement(sql.remove).run(keyValues(table.parseKey(key) as object)).changes
    if (before === undefined) return statement(sql.insert).run(keyValues(after).concat(rowValues(after))).changes
    return statement(sql.update).run(rowValues(after).concat(keyValues(after))).changes
  }

  return {
    ...makeSqlScan(connection, table, rowSql),
    get: (key) => {
      const raw = statement(sql.get).get(keyValues(key)) as unknown[] | undefined
      return raw === undefined ? undefined : rowOf(raw)
    },
    write: (key, before, after) => {
      if (before === undefined && after === undefined) return
      const written = writeRow(key, before, after)
      if (written !== 1)
        throw new Error(`table ${table.name} is not what it was read as: ${written} rows written instead of 1`)
      if (sides.length > 0) writeSides(idOf(key), before, after)
    },
    fillSide: (index) => {
      for (const raw of statement(`SELECT ${listOf(columns)} FROM ${name}`).all() as unknown[][]) {
        const row = rowOf(raw)
        writeSides(idOf(table.keyOf(row)), undefined, row, index)
      }
    },
  }
}
