/**
 * What a node answers from its index of histories: abci_query paths that no other node need answer alike, and that
 * nothing proves. Source: protocol.md §8.
 */
import { type Address, address, addressBytes } from '../../values/address.ts'
import { equalBytes, fromHex, toBase64 } from '../../base/bytes.ts'
import { sha256 } from '../../base/sha256.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { valueChanges } from '../../modules/params/keeper.ts'
import { defineQuery, type QueryContext, type QueryEntry, QueryRefusal } from '../../modules/query.ts'
import { txHash } from '../../tx/envelope.ts'
import { field, optional } from '../../tx/fields.ts'
import { type HistoryPosition, parseHistoryPosition } from '../../values/historyPosition.ts'
import { integerOf } from '../../values/number.ts'
import type { Shape } from '../../values/shape.ts'
import { text } from '../../values/text.ts'
import { held, type ValueType } from '../../values/valueType.ts'
import { type Connection, openConnection, sqliteCode } from '../../base/sqlite.ts'
import { historyResultCodec } from './block.ts'
import { hashStart, newestIds, OWN_EVENTS_FROM, positionOfTx, spanOf, TXS_OF_A_BLOCK, txIdOf } from './file.ts'

/** The rows of one page, at most and when the path names no number. */
const ROWS_MAX = 100
const ROWS = 20

/** The bytes of texts and blobs in the rows of one page: it ends with the row that reaches them. */
const PAGE_BYTES_MAX = 1024 * 1024

const printPosition = ({ height, txIndex }: HistoryPosition): string => `${height}/${txIndex}`

const position: ValueType<HistoryPosition, string> = {
  ...text,
  name: 'position',
  exactForm: 'a height, or a height and a place (120/3)',
  inPath: undefined,
  toJson: printPosition,
  print: printPosition,
  toWire: printPosition,
  parse: parseHistoryPosition,
  fromWire: (wire) => held(parseHistoryPosition(wire), position.exactForm, wire),
  fromSql: (sql) => position.fromWire(String(sql)),
}

const NEWEST: HistoryPosition = { height: Number.MAX_SAFE_INTEGER, txIndex: 0 }

const pageOptions = {
  limit: optional(field(integerOf(1, ROWS_MAX))),
  before: optional(field(position)),
}

const hashText: ValueType<string, string> = {
  ...text,
  name: 'hash',
  exactForm: '64 hex digits',
  parse: (given) => (/^[0-9a-fA-F]{64}$/.test(given) ? given : undefined),
}

/** A row: its position, and the rest. */
type Row = readonly [height: number, txIndex: number, ...rest: unknown[]]

/** The rows of a history below a position, the newest first. At most `count` are asked for. */
type Rows<R extends Row> = (connection: Connection, key: Address, before: HistoryPosition, count: number) => Iterable<R>

/** A page of rows, and where the next one begins: null behind the last row. */
function pageOf<R extends Row>(rows: Iterable<R>, limit: number, print: (row: R) => object) {
  const shown: object[] = []
  let bytes = 0
  let last: Row | undefined
  for (const row of rows) {
    if (shown.length === limit || bytes >= PAGE_BYTES_MAX) return { rows: shown, next: `${last?.[0]}/${last?.[1]}` }
    last = row
    for (const value of row) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
    shown.push(print(row))
  }
  return { rows: shown, next: null }
}

/** A function that tells the price of gas that was in force in a block, in base units. */
function gasPrices({ state, height, once }: QueryContext): (height: number) => string {
  // Read once for each head: a price is looked up for every row of every page.
  const changes = once('history gas prices', () => [...valueChanges(state, 'gas_price', height)])
  return (asked) => changes.find((change) => change.height <= asked)?.value ?? '0'
}

type TxRow = readonly [height: number, index: number, timeMs: number, tx: Uint8Array, result: Uint8Array]

const printTx = (context: QueryContext) => {
  const gasPrice = gasPrices(context)
  return ([height, index, timeMs, tx, result]: TxRow): object => {
    const { code, log, info, data, gasUsed } = historyResultCodec.decode(result)
    return {
      height,
      index,
      time_ms: timeMs,
      hash: txHash(tx),
      tx: toBase64(tx),
      code,
      log,
      info,
      data: toBase64(data),
      gas_used: gasUsed,
      gas_price: gasPrice(height),
    }
  }
}

const TX_BY_ID = 'SELECT b.time_ms, t.tx, t.result FROM transactions t, blocks b WHERE t.id = ? AND b.height = ?'

/** Rows of an account that begin below a transaction. */
export const ACCOUNT_ROWS = `SELECT first_id, others FROM account_transactions
  WHERE account = ? AND first_id < ? ORDER BY first_id DESC`

const rowsOf = ({ statement }: Connection, sql: string, ...given: readonly unknown[]): Iterable<unknown> =>
  statement(sql)
    .safeIntegers(false)
    .iterate(...given)

function txOf({ statement }: Connection, id: number): TxRow {
  const [height, index] = positionOfTx(id)
  const row = statement(TX_BY_ID).safeIntegers(false).get(id, height) as [number, Uint8Array, Uint8Array]
  return [height, index, ...row]
}

/** The id that the ids of older transactions are below. */
const idBelow = ({ height, txIndex }: HistoryPosition): number =>
  Math.min(txIdOf(height, Math.min(txIndex, TXS_OF_A_BLOCK)), Number.MAX_SAFE_INTEGER)

/** The transactions of an account. */
export const accountTxs: Rows<TxRow> = function* (connection, key, position) {
  const before = idBelow(position)
  const rows = rowsOf(connection, ACCOUNT_ROWS, addressBytes(key), before)
  for (const [first, others] of rows as Iterable<[number, Buffer]>)
    for (const id of newestIds(first, others)) if (id < before) yield txOf(connection, id)
}

/** Transactions below a transaction. */
const CHAIN_ROWS = 'SELECT id FROM transactions WHERE id < ? ORDER BY id DESC'

function* chainTxs(connection: Connection, before: HistoryPosition): Iterable<TxRow> {
  for (const [id] of rowsOf(connection, CHAIN_ROWS, idBelow(before)) as Iterable<[number]>) yield txOf(connection, id)
}

/** A page of an owner. */
export const VALIDATOR_PAGE = `SELECT e.height, e.place, b.time_ms, e.type, e.attributes FROM validator_events e
  JOIN blocks b ON b.height = e.height
  WHERE e.owner = ? AND (e.height, e.place) < (?, ?) ORDER BY e.height DESC, e.place DESC LIMIT ?`

/** A page of awards. */
export const AWARDS_PAGE = `SELECT a.height, 0, b.time_ms, a.amount FROM awards a JOIN blocks b ON b.height = a.height
  WHERE a.owner = ? AND (a.height, 0) < (?, ?) ORDER BY a.height DESC LIMIT ?`

const rowsIn =
  <R extends Row>(sql: string): Rows<R> =>
  (connection, key, { height, txIndex }, count) =>
    rowsOf(connection, sql, addressBytes(key), height, txIndex, count) as Iterable<R>

const BY_HASH = 'SELECT id FROM transactions WHERE hash_start = ? ORDER BY id'

/** The transaction with this hash that succeeded, or else the first one in a block. */
function findTx(connection: Connection, hash: Uint8Array): TxRow | undefined {
  let first: TxRow | undefined
  for (const [id] of connection.statement(BY_HASH).safeIntegers(false).all(hashStart(hash)) as [number][]) {
    const row = txOf(connection, id)
    const [, , , tx, result] = row
    if (!equalBytes(sha256(tx), hash)) continue
    if (historyResultCodec.decode(result).code === 0) return row
    first ??= row
  }
  return first
}

/** What every answer says: the heights between which it is whole. */
function withSpan(connection: Connection, { height }: QueryContext, found: object): object {
  const { first, last } = spanOf(connection) ?? { first: height + 1, last: height }
  return { first_height: first, last_height: last, ...found }
}

/** Answers from the index, where it can be read. */
type Ask = (answer: (connection: Connection) => object) => object

const asItIs: Shape<object> = { schema: { type: 'object' }, toJson: (value) => value }

const pageQuery = <R extends Row>(
  ask: Ask,
  name: string,
  doc: string,
  rows: Rows<R>,
  printer: (connection: Connection, context: QueryContext) => (row: R) => object,
): QueryEntry =>
  defineQuery({
    path: `/history/${name}/<address>`,
    doc: `${doc}, the newest first.`,
    input: { address: field(address), ...pageOptions },
    isList: true,
    result: asItIs,
    run: (context, { address: owner, limit = ROWS, before = NEWEST }) =>
      ask((connection) => {
        const found = rows(connection, owner, before, limit + 1)
        return withSpan(connection, context, pageOf(found, limit, printer(connection, context)))
      }),
  })

type EventRow = readonly [number, number, number, string, string]

const printEvent =
  (connection: Connection) =>
  ([height, txIndex, timeMs, type, attributes]: EventRow): object => ({
    height,
    time_ms: timeMs,
    hash: txIndex >= OWN_EVENTS_FROM ? null : txHash(txOf(connection, txIdOf(height, txIndex))[3]),
    type,
    attributes: JSON.parse(attributes) as unknown,
  })

type AwardRow = readonly [number, number, number, string]

const printAward = ([height, , timeMs, amount]: AwardRow): object => ({ height, time_ms: timeMs, amount })

/**
 * The queries that the index at `path` answers. It is opened at the first of them. They never fail for what is wrong
 * with the file, nor without a path: code 32 says so.
 */
export function historyQueries(path: string | undefined): readonly QueryEntry[] {
  let opened: Connection | undefined
  const unavailable = (why: string): QueryRefusal => new QueryRefusal(kernelErrors.unavailable(why))
  const ask: Ask = (answer) => {
    if (path === undefined) throw unavailable('this node keeps no index of histories (--no-history)')
    try {
      opened ??= openConnection(path, { readonly: true })
      const connection = opened
      return connection.db.transaction(() => answer(connection))()
    } catch (error) {
      if (sqliteCode(error) === undefined && (error as Error).name !== 'StoreError') throw error
      opened?.close()
      opened = undefined
      throw unavailable('the index of histories cannot be read')
    }
  }
  return [
    pageQuery(ask, 'account', 'The transactions that concern an account', accountTxs, (_connection, context) =>
      printTx(context),
    ),
    defineQuery({
      path: '/history/transactions',
      doc: 'The transactions of the chain, the newest first.',
      input: pageOptions,
      isList: true,
      result: asItIs,
      run: (context, { limit = ROWS, before = NEWEST }) =>
        ask((connection) =>
          withSpan(connection, context, pageOf(chainTxs(connection, before), limit, printTx(context))),
        ),
    }),
    pageQuery(
      ask,
      'validator',
      'What an owner of candidacies did, and what blocks did to them, without awards',
      rowsIn<EventRow>(VALIDATOR_PAGE),
      printEvent,
    ),
    pageQuery(
      ask,
      'awards',
      'What an owner was paid in blocks that tell of it',
      rowsIn<AwardRow>(AWARDS_PAGE),
      () => printAward,
    ),
    defineQuery({
      path: '/history/transaction/<hash>',
      doc: 'A transaction in a block by its hash; null when the index has none.',
      input: { hash: field(hashText) },
      result: asItIs,
      run: (context, { hash }) =>
        ask((connection) => {
          const found = findTx(connection, fromHex(hash) as Uint8Array)
          return withSpan(connection, context, { transaction: found === undefined ? null : printTx(context)(found) })
        }),
    }),
  ]
}
