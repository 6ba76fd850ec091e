import { compareBytes, concat } from '../../base/bytes.ts'
import type { SqlValue } from '../../values/column.ts'
import { sortKeyOf, tailOf } from '../overlay.ts'
import { fromLatin1 } from '../sorted.ts'
import type { Scan } from '../state.ts'
import type { Table } from '../table.ts'
import {
  allColumns,
  createRowMapper,
  indexesInSql,
  indexTableName,
  isSqlOrdered,
  keyColumns,
  listOf,
  type RowMapper,
} from './columns.ts'
import type { Connection } from '../../base/sqlite.ts'

/** The reads and writes of one table on one connection. Errors of SQLite pass through unchanged. */
export interface SqlTable {
  get(key: object): object | undefined
  /** The key of the row that `find` of a state gives. */
  findKey(index: string, key: Uint8Array): object | undefined
  /**
   * With `getRow`, a scan of an index reads only keys, and takes the rows from `getRow`: those who keep rows in memory
   * save 5 to 10 % of the CPU of operations that look something up in an index.
   */
  scan(scan: Scan<string>, getRow?: (key: object) => object): Iterable<object>
  count(scan: Scan<string>): number
  rank(index: string, row: object): number
  /** Brings the row and its indexes from `before`, which is what the file holds, to `after`. */
  write(key: Uint8Array, before: object | undefined, after: object | undefined): void
  /** Fills the table of an index, which is empty, from the rows. */
  fillIndex(index: string): void
}

type RawRow = readonly unknown[]

const smallerOf = (a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined =>
  a === undefined || (b !== undefined && compareBytes(b, a) < 0) ? b : a

/** One order of a table's rows. */
interface SqlOrder {
  scan(scan: Scan<string>, getRow?: (key: object) => object): Iterable<object>
  count(scan: Scan<string>): number
  rank(row: object): number
}

const FIRST_BATCH = 16
const LAST_BATCH = 512
const NOTHING = new Uint8Array(0)

/** The first bytes above everything that starts with `prefix`; undefined when there are none. */
function endOf(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const end = prefix.slice(0, length)
  end[length - 1] = (end[length - 1] as number) + 1
  return end
}

/**
 * Reads rows in batches. The first is fetched without a cursor, each other one behind the cursor that `cursorOf` makes
 * of the last row. Every statement is run to its end: one that is left open would keep the connection from writing.
 *
 * PERF: the limit stands in the SQL. SQLite prepares a statement anew each time that a value is bound to its LIMIT.
 */
export function* inBatches<T, C>(
  fetch: (cursor: C | undefined, limit: number) => readonly RawRow[],
  read: (raw: RawRow) => T,
  cursorOf: (row: T) => C,
): Generator<T> {
  let cursor: C | undefined
  for (let limit = FIRST_BATCH; ; limit = Math.min(limit * 4, LAST_BATCH)) {
    const batch = fetch(cursor, limit)
    for (const [position, raw] of batch.entries()) {
      const row = read(raw)
      if (position === limit - 1) cursor = cursorOf(row)
      yield row
    }
    if (batch.length < limit) return
  }
}

const toNumber = (raw: unknown): number => Number((raw as [bigint])[0])

/**
 * The order of the primary key. A prefix that is part of a key reads the whole table: a table that is scanned so has an
 * index for it.
 */
function primaryKeyOrder({ statement }: Connection, table: Table, { keyToSql, fromSql }: RowMapper): SqlOrder {
  const columns = keyColumns(table)
  const key = `"${columns[0]}"`
  const select = `SELECT ${listOf(allColumns(table))} FROM "${table.name}"`

  const scanAll = (reverse: boolean): Generator<object> => {
    const order = `ORDER BY ${key} ${reverse ? 'DESC' : 'ASC'}`
    const after = `WHERE ${key} ${reverse ? '<' : '>'} ?`
    return inBatches(
      (cursor: SqlValue | undefined, limit) =>
        (cursor === undefined
          ? statement(`${select} ${order} LIMIT ${limit}`).all()
          : statement(`${select} ${after} ${order} LIMIT ${limit}`).all(cursor)) as RawRow[],
      fromSql,
      (row) => keyToSql(row)[0] as SqlValue,
    )
  }

  function* scan(prefix: Uint8Array, reverse: boolean): Generator<object> {
    const whole = table.parseKey(concat(Uint8Array.of(table.tag), prefix))
    if (whole !== undefined) {
      const where = columns.map((column) => `"${column}" = ?`).join(' AND ')
      const raw = statement(`${select} WHERE ${where}`).get(keyToSql(whole)) as RawRow | undefined
      if (raw !== undefined) yield fromSql(raw)
      return
    }
    for (const row of scanAll(reverse))
      if (compareBytes(table.keyOf(row).subarray(1, 1 + prefix.length), prefix) === 0) yield row
  }

  const needsIndex = (what: string): never => {
    throw new Error(`table ${table.name}: ${what} is asked in an index`)
  }
  return {
    scan: ({ prefix = NOTHING, before, reverse = false }) => {
      if (before !== undefined) needsIndex('before')
      return { [Symbol.iterator]: () => (prefix.length === 0 ? scanAll(reverse) : scan(prefix, reverse)) }
    },
    count: ({ prefix = NOTHING, before }) => {
      if (before !== undefined) needsIndex('before')
      return prefix.length === 0
        ? toNumber(statement(`SELECT count(*) FROM "${table.name}"`).get())
        : [...scan(prefix, false)].length
    },
    rank: () => needsIndex('a rank'),
  }
}

/** The order that the table of an index keeps. `findKey`: the key of the first row with this index key. */
interface IndexOrder extends SqlOrder {
  findKey(key: Uint8Array): object | undefined
}

function indexOrder(
  { statement }: Connection,
  table: Table,
  { fromSql, keyFromSql }: RowMapper,
  index: string,
): IndexOrder {
  const indexTable = `"${indexTableName(table, index)}" AS i`
  const keys = keyColumns(table).map((column) => ({ column, inIndex: `i."${column === 'key' ? 'row_key' : column}"` }))
  const sameKey = keys.map(({ column, inIndex }) => `t."${column}" = ${inIndex}`)
  const columns = allColumns(table).map((column) => `t."${column}"`)
  const sortKeyIn = (row: object): Uint8Array => fromLatin1(sortKeyOf(table, index, row) as string)
  const selectRows = `SELECT ${columns.join(', ')} FROM ${indexTable} CROSS JOIN "${table.name}" AS t ON ${sameKey.join(' AND ')}`
  const selectKeys = `SELECT ${keys.map(({ inIndex }) => inIndex).join(', ')} FROM ${indexTable}`

  /**
   * Where the rows of a scan are; of one that has come to `cursor`, those behind it.
   *
   * PERF: the cursor takes the place of the bound that is behind it. SQLite begins at one bound, and would read all rows
   * between the two again for each batch.
   */
  const boundsOf = (
    { prefix = NOTHING, before, reverse = false }: Scan<string>,
    cursor?: Uint8Array,
  ): { readonly where: string; readonly values: readonly Uint8Array[] } => {
    const isPassed = cursor !== undefined && !reverse
    const from = `WHERE i."key" ${isPassed ? '>' : '>='} ?`
    const first = isPassed ? cursor : prefix
    const end = (reverse ? cursor : undefined) ?? smallerOf(before, endOf(prefix))
    return end === undefined
      ? { where: from, values: [first] }
      : { where: `${from} AND i."key" < ?`, values: [first, end] }
  }

  // PERF: the sort key is not selected but made of the last row of a batch: a blob costs more than the rest of its row.
  const scanIndex = (scan: Scan<string>, getRow?: (key: object) => object): Generator<object> => {
    const select = getRow === undefined ? selectRows : selectKeys
    const order = `ORDER BY i."key" ${scan.reverse === true ? 'DESC' : 'ASC'}`
    return inBatches(
      (cursor: Uint8Array | undefined, limit) => {
        const { where, values } = boundsOf(scan, cursor)
        return statement(`${select} ${where} ${order} LIMIT ${limit}`).all(...values) as RawRow[]
      },
      getRow === undefined ? fromSql : (raw) => getRow(keyFromSql(raw)),
      sortKeyIn,
    )
  }

  return {
    findKey: (key) => {
      const { where, values } = boundsOf({ prefix: key })
      const raw = statement(`${selectKeys} ${where} LIMIT 1`).get(...values) as RawRow | undefined
      return raw === undefined ? undefined : keyFromSql(raw)
    },
    scan: (scan, getRow) => ({ [Symbol.iterator]: () => scanIndex(scan, getRow) }),
    count: (scan) => {
      const { where, values } = boundsOf(scan)
      return toNumber(statement(`SELECT count(*) FROM ${indexTable} ${where}`).get(...values))
    },
    rank: (row) => toNumber(statement(`SELECT count(*) FROM ${indexTable} WHERE i."key" < ?`).get(sortKeyIn(row))),
  }
}

const placeholders = (count: number): string => new Array(count).fill('?').join(', ')
const equalTo = (columns: readonly string[]): readonly string[] => columns.map((column) => `"${column}" = ?`)

/** Creates the SQL of `table` on `connection`, which has the tables of `schema.ts`. A scan of an index that the table lacks throws. */
export function createSqlTable(connection: Connection, table: Table): SqlTable {
  const { statement } = connection
  const mapper = createRowMapper(table)
  const { keyToSql, restToSql, fromSql } = mapper
  const name = `"${table.name}"`
  const keys = keyColumns(table)
  const columns = allColumns(table)
  const isKey = equalTo(keys).join(' AND ')
  const sql = {
    get: `SELECT ${listOf(columns)} FROM ${name} WHERE ${isKey}`,
    all: `SELECT ${listOf(columns)} FROM ${name}`,
    insert: `INSERT INTO ${name} VALUES (${placeholders(columns.length)})`,
    update: `UPDATE ${name} SET ${equalTo(columns.slice(keys.length)).join(', ')} WHERE ${isKey}`,
    remove: `DELETE FROM ${name} WHERE ${isKey}`,
  }
  const indexes = indexesInSql(table).map((index) => ({
    index,
    insert: `INSERT INTO "${indexTableName(table, index)}" VALUES (${placeholders(1 + keys.length)})`,
    remove: `DELETE FROM "${indexTableName(table, index)}" WHERE "key" = ?`,
  }))
  const indexOrders = new Map(indexes.map(({ index }) => [index, indexOrder(connection, table, mapper, index)]))
  const orders = new Map<string, SqlOrder>(indexOrders)
  if (isSqlOrdered(table)) orders.set('', primaryKeyOrder(connection, table, mapper))

  const among = <O>(all: ReadonlyMap<string, O>, index = ''): O => {
    const order = all.get(index)
    if (order === undefined) throw new Error(`table ${table.name} has no index ${index}`)
    return order
  }
  const orderOf = (index?: string): SqlOrder => among(orders, index)

  const writeIndex = (
    { index, insert, remove }: (typeof indexes)[number],
    tail: string,
    before: object | undefined,
    after: object | undefined,
  ): void => {
    const from = sortKeyOf(table, index, before, tail)
    const to = sortKeyOf(table, index, after, tail)
    if (from === to) return
    if (from !== undefined) statement(remove).run(fromLatin1(from))
    if (to !== undefined) statement(insert).run(fromLatin1(to), ...keyToSql(after as object))
  }

  const writeRow = (key: Uint8Array, before: object | undefined, after: object | undefined): number => {
    if (after === undefined) return statement(sql.remove).run(keyToSql(table.parseKey(key) as object)).changes
    if (before === undefined) return statement(sql.insert).run(keyToSql(after).concat(restToSql(after))).changes
    return statement(sql.update).run(restToSql(after).concat(keyToSql(after))).changes
  }

  return {
    get: (key) => {
      const raw = statement(sql.get).get(keyToSql(key)) as RawRow | undefined
      return raw === undefined ? undefined : fromSql(raw)
    },
    findKey: (index, key) => among(indexOrders, index).findKey(key),
    scan: (scan, getRow) => orderOf(scan.index).scan(scan, getRow),
    count: (scan) => orderOf(scan.index).count(scan),
    rank: (index, row) => orderOf(index).rank(row),
    write: (key, before, after) => {
      if (before === undefined && after === undefined) return
      const written = writeRow(key, before, after)
      if (written !== 1)
        throw new Error(`table ${table.name} is not what it was read as: ${written} rows written instead of 1`)
      const tail = tailOf(key)
      for (const index of indexes) writeIndex(index, tail, before, after)
    },
    fillIndex: (index) => {
      const entry = indexes.find((one) => one.index === index)
      if (entry === undefined) return
      for (const raw of statement(sql.all).all() as RawRow[]) {
        const row = fromSql(raw)
        writeIndex(entry, tailOf(table.keyOf(row)), undefined, row)
      }
    },
  }
}
