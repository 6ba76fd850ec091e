import { compareBytes, concat } from '../../base/bytes.ts'
import type { Connection } from './connection.ts'
import {
  allColumns,
  isSqlOrdered,
  keyColumns,
  listOf,
  makeRowSql,
  type RowSql,
  sideName,
  sideOrders,
} from './columns.ts'
import { placeIn, placeOf } from '../overlay.ts'
import { bytesOf, idOf } from '../sorted.ts'
import type { Scan } from '../state.ts'
import type { Table } from '../table.ts'

type Rows = unknown[][]

/**
 * The row of a key that is in the table, for whoever keeps rows in memory: a walk of a side table then reads keys only.
 */
export type KnownRow = (key: object) => object

/** One order of a table in SQL. */
interface Order {
  scan(prefix: Uint8Array, reverse: boolean, known?: KnownRow): Iterable<object>
  count(prefix: Uint8Array): number
}

/** The order of an index. */
interface IndexOrder extends Order {
  rank(row: object): number
}

/** The scans of one table on one connection. */
export interface SqlScan {
  scan(scan: Scan<string>, known?: KnownRow): Iterable<object>
  count(scan: Scan<string>): number
  rank(index: string, row: object): number
}

/** The SQL of a walk without its limit, and what is bound to it. */
interface Batches {
  readonly first: string
  readonly after: string
  readonly values: readonly Uint8Array[]
}

const FIRST_BATCH = 16
const LAST_BATCH = 512
const NOTHING = new Uint8Array(0)

/** The first bytes above everything that starts with `prefix`; undefined when there are none. */
function above(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const bound = prefix.slice(0, length)
  bound[length - 1] = (bound[length - 1] as number) + 1
  return bound
}

/**
 * A walk in batches, each from the cursor that `next` makes of the row before. Statements are stepped to their end: one
 * left open would keep the connection from writing and committing.
 */
export function* inBatches<C, T>(
  first: C,
  fetch: (cursor: C, limit: number) => unknown[][],
  next: (raw: unknown[]) => C,
  rowOf: (raw: unknown[]) => T,
): Generator<T> {
  let cursor = first
  for (let limit = FIRST_BATCH; ; limit = Math.min(limit * 4, LAST_BATCH)) {
    const batch = fetch(cursor, limit)
    for (const raw of batch) yield rowOf(raw)
    const last = batch[batch.length - 1]
    if (last === undefined || batch.length < limit) return
    cursor = next(last)
  }
}

/**
 * Reads the batches of a walk: `first` the one at its begin, `after` each one behind a cursor, which is bound after
 * `values`. PERF: the limit stands in the SQL. SQLite prepares a statement anew each time a value is bound to its
 * LIMIT.
 */
const batchesOf =
  ({ statement }: Connection, { first, after, values }: Batches) =>
  (cursor: unknown, limit: number): Rows =>
    (cursor === undefined
      ? statement(`${first} LIMIT ${limit}`).all(...values)
      : statement(`${after} LIMIT ${limit}`).all(...values, cursor)) as Rows

const countOf = (raw: unknown): number => Number((raw as [bigint])[0])

/**
 * The order of the primary key. Part of a key as prefix reads the whole table: tables that are asked so keep a side
 * table.
 */
function keyOrder(connection: Connection, table: Table, { keyValues, rowOf }: RowSql): Order {
  const { statement } = connection
  const key = `"${keyColumns(table)[0]}"`
  const all = `SELECT ${listOf(allColumns(table))} FROM "${table.name}"`
  const count = `SELECT count(*) FROM "${table.name}"`

  const scanAll = (reverse: boolean): Iterable<object> => {
    const order = `ORDER BY ${key} ${reverse ? 'DESC' : 'ASC'}`
    const after = `${all} WHERE ${key} ${reverse ? '<' : '>'} ? ${order}`
    const fetch = batchesOf(connection, { first: `${all} ${order}`, after, values: [] })
    return { [Symbol.iterator]: () => inBatches<unknown, object>(undefined, fetch, (raw) => raw[0], rowOf) }
  }

  const one = (of: object): object[] => {
    const where = keyColumns(table).map((column) => `"${column}" = ?`)
    return (statement(`${all} WHERE ${where.join(' AND ')}`).all(keyValues(of)) as Rows).map(rowOf)
  }

  const scan = (prefix: Uint8Array, reverse: boolean): Iterable<object> => {
    const whole = table.parseKey(concat(Uint8Array.of(table.tag), prefix))
    if (whole !== undefined) return one(whole)
    const rows = scanAll(reverse)
    if (prefix.length === 0) return rows
    const matches = (row: object): boolean =>
      compareBytes(table.keyOf(row).subarray(1, 1 + prefix.length), prefix) === 0
    return {
      [Symbol.iterator]: function* () {
        for (const row of rows) if (matches(row)) yield row
      },
    }
  }

  return {
    scan,
    count: (prefix) => (prefix.length === 0 ? countOf(statement(count).get()) : [...scan(prefix, false)].length),
  }
}

/** The order that a side table keeps. */
function sideOrder(connection: Connection, table: Table, { rowOf, keyOf }: RowSql, index: string): IndexOrder {
  const { statement } = connection
  const side = `"${sideName(table, index)}" AS i`
  const keys = keyColumns(table).map((column) => ({ column, inSide: `i."${column === 'key' ? 'row_key' : column}"` }))
  const isRow = keys.map(({ column, inSide }) => `t."${column}" = ${inSide}`)
  const list = allColumns(table)
    .map((column) => `t."${column}"`)
    .join(', ')
  const wholeRows = `SELECT i."key", ${list} FROM ${side} CROSS JOIN "${table.name}" AS t ON ${isRow.join(' AND ')}`
  const keysOnly = `SELECT ${keys.map(({ inSide }) => inSide).join(', ')} FROM ${side}`
  const cursorOf = (row: object): Uint8Array => bytesOf(placeIn(table, index, row) as string)

  const bounds = (prefix: Uint8Array): { readonly where: string; readonly values: Uint8Array[] } => {
    const end = above(prefix)
    if (end === undefined) return { where: 'WHERE i."key" >= ?', values: [prefix] }
    return { where: 'WHERE i."key" >= ? AND i."key" < ?', values: [prefix, end] }
  }

  return {
    scan: (prefix, reverse, known) => {
      const { where, values } = bounds(prefix)
      const rows = known === undefined ? wholeRows : keysOnly
      const order = `ORDER BY i."key" ${reverse ? 'DESC' : 'ASC'}`
      const after = `${rows} ${where} AND i."key" ${reverse ? '<' : '>'} ? ${order}`
      const fetch = batchesOf(connection, { first: `${rows} ${where} ${order}`, after, values })
      // PERF: a blob costs more than the rest of its row, so only whole rows bring their place along.
      const [read, next] =
        known === undefined
          ? [(raw: unknown[]) => rowOf(raw.slice(1)), (raw: unknown[]) => raw[0]]
          : [(raw: unknown[]) => known(keyOf(raw)), (raw: unknown[]) => cursorOf(known(keyOf(raw)))]
      return { [Symbol.iterator]: () => inBatches<unknown, object>(undefined, fetch, next, read) }
    },
    count: (prefix) => {
      const { where, values } = bounds(prefix)
      return countOf(statement(`SELECT count(*) FROM ${side} ${where}`).get(...values))
    },
    rank: (row) => countOf(statement(`SELECT count(*) FROM ${side} WHERE i."key" < ?`).get(cursorOf(row))),
  }
}

/** The scans of `table` on `connection`, which has the tables of `ddl.ts`. An index that the table lacks throws. */
export function makeSqlScan(connection: Connection, table: Table, rowSql: RowSql): SqlScan {
  const indexes = new Map(sideOrders(table).map((index) => [index, sideOrder(connection, table, rowSql, index)]))
  const byKey = isSqlOrdered(table) ? keyOrder(connection, table, rowSql) : undefined
  const indexOf = (index: string): IndexOrder => {
    const order = indexes.get(index)
    if (order === undefined) throw new Error(`table ${table.name} has no index ${index}`)
    return order
  }
  const orderOf = (index: string): Order => (index === '' && byKey !== undefined ? byKey : indexOf(index))
  return {
    scan: ({ index = '', prefix = NOTHING, reverse = false }, known) => orderOf(index).scan(prefix, reverse, known),
    count: ({ index = '', prefix = NOTHING }) => orderOf(index).count(prefix),
    rank: (index, row) => indexOf(index).rank(row),
  }
}

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
