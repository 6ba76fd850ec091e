/** The index of histories: a database of its own beside the state, which holds nothing that the blocks do not tell. */
import { rmSync } from 'node:fs'
import { ADDRESS_BYTES, type Address, addressBytes } from '../../values/address.ts'
import { toHex } from '../../base/bytes.ts'
import { sha256 } from '../../base/sha256.ts'
import { stakeEvents } from '../../modules/stake/events.ts'
import { type Connection, openConnection, readMeta, sqliteCode, tablesIn, writeMeta } from '../../base/sqlite.ts'
import type { HistoryBlock } from './block.ts'

/** What a file must be to be read by this program. */
const SCHEMA_VERSION = '2'

/** A transaction's id is the height of its block times this, and its index in the block, of which there are fewer. */
export const TXS_OF_A_BLOCK: number = 2 ** 20

/** The id of a transaction. */
export const txIdOf = (height: number, index: number): number => height * TXS_OF_A_BLOCK + index

/** The height and the index in the block of a transaction. */
export const positionOfTx = (id: number): readonly [height: number, index: number] => [
  Math.floor(id / TXS_OF_A_BLOCK),
  id % TXS_OF_A_BLOCK,
]

/** What a block's own events count from, so that they are newer than its transactions, which count from 0. */
export const OWN_EVENTS_FROM = 500_000_000

/** The most transactions of one block that are one row of an account. */
const TXS_OF_A_ROW = 256

// Rows of accounts come in no order, and each costs a page that is written again. So all that a block has for an account
// is one row: the first transaction's id, and how far behind it the others are. A table of large rows has a rowid: its
// inner pages then hold keys alone.
const TABLES = [
  'CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT',
  'CREATE TABLE blocks (height INTEGER NOT NULL PRIMARY KEY, time_ms INTEGER NOT NULL) STRICT',
  `CREATE TABLE transactions (id INTEGER NOT NULL PRIMARY KEY, hash_start INTEGER NOT NULL, tx BLOB NOT NULL,
    result BLOB NOT NULL, accounts BLOB NOT NULL) STRICT`,
  'CREATE INDEX transactions_by_hash ON transactions (hash_start)',
  `CREATE TABLE account_transactions (account BLOB NOT NULL, first_id INTEGER NOT NULL, others BLOB NOT NULL,
    PRIMARY KEY (account, first_id)) WITHOUT ROWID, STRICT`,
  `CREATE TABLE validator_events (owner BLOB NOT NULL, height INTEGER NOT NULL, place INTEGER NOT NULL, type TEXT NOT NULL,
    attributes TEXT NOT NULL, PRIMARY KEY (owner, height, place)) WITHOUT ROWID, STRICT`,
  'CREATE INDEX validator_events_by_height ON validator_events (height)',
  `CREATE TABLE awards (owner BLOB NOT NULL, height INTEGER NOT NULL, amount TEXT NOT NULL,
    PRIMARY KEY (owner, height)) WITHOUT ROWID, STRICT`,
  'CREATE INDEX awards_by_height ON awards (height)',
] as const

/** Removes the index at `path`, if there is one. */
export function removeHistory(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}

function whyUnusable({ db, ...connection }: Connection, chainId: string): string | undefined {
  if (tablesIn(db).size === 0) {
    for (const sql of TABLES) db.exec(sql)
    writeMeta({ db, ...connection }, 'schema_version', SCHEMA_VERSION)
    writeMeta({ db, ...connection }, 'chain_id', chainId)
  }
  const [version, chain] = ['schema_version', 'chain_id'].map((name) => readMeta({ db, ...connection }, name))
  if (version !== SCHEMA_VERSION) return `it has schema version ${version}, this program writes ${SCHEMA_VERSION}`
  return chain === chainId ? undefined : `it is that of chain ${chain}`
}

/** Creates the tables of a file that has none. Returns why the file cannot be used; undefined when it can. */
function prepare(path: string, chainId: string): string | undefined {
  try {
    const connection = openConnection(path, { readonly: false })
    try {
      return connection.db.transaction(() => whyUnusable(connection, chainId)).immediate()
    } finally {
      connection.close()
    }
  } catch (error) {
    const { name, message, code } = error as Error & { readonly code?: unknown }
    const isUnusable =
      name === 'StoreError' ? code !== 'cannotOpen' : /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')
    if (!isUnusable) throw error
    return message
  }
}

/**
 * Makes sure that there is an index of this chain at `path`. One that cannot be used is removed, because the blocks hold
 * all that it held. Returns why it was. Throws where it cannot be opened now, as on a disk that is not there yet.
 */
export function prepareHistory(path: string, chainId: string): string | undefined {
  const why = prepare(path, chainId)
  if (why === undefined) return undefined
  removeHistory(path)
  const again = prepare(path, chainId)
  if (again !== undefined) throw new Error(`${path}: ${again}`)
  return why
}

/** The heights that the index holds, without a gap. */
export interface HistorySpan {
  readonly first: number
  readonly last: number
}

/** Two subqueries: SQLite reads min() or max() from the key when it stands alone, and scans the table for both together. */
export const SPAN = 'SELECT (SELECT min(height) FROM blocks), (SELECT max(height) FROM blocks)'

/** Reads the heights that an index holds; undefined while it holds none. */
export function spanOf({ statement }: Connection): HistorySpan | undefined {
  const [first, last] = statement(SPAN).get() as [bigint | null, bigint | null]
  return first === null || last === null ? undefined : { first: Number(first), last: Number(last) }
}

/** The first 8 bytes of a transaction's hash, by which it is found. Others may have the same: compare the whole hash. */
export const hashStart = (hash: Uint8Array): bigint => Buffer.from(hash.buffer, hash.byteOffset, 8).readBigInt64BE()

/** The accounts of a block, each with the ids of its transactions in order. */
function idsByAccount(height: number, accounts: HistoryBlock['accounts']): Iterable<readonly [Uint8Array, number[]]> {
  const found = new Map<string, readonly [Uint8Array, number[]]>()
  for (const [index, concerned] of accounts.entries()) {
    const id = txIdOf(height, index)
    for (const account of addressesIn(concerned)) {
      const name = toHex(account)
      const ids = found.get(name)
      if (ids === undefined) found.set(name, [account, [id]])
      else ids[1].push(id)
    }
  }
  return found.values()
}

function* addressesIn(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += ADDRESS_BYTES) yield bytes.subarray(at, at + ADDRESS_BYTES)
}

/** The ids of transactions behind the first one of a row. */
function printOthers(ids: readonly number[]): Buffer {
  const [first = 0] = ids
  const others = Buffer.alloc(4 * (ids.length - 1))
  for (let at = 1; at < ids.length; at++) others.writeUInt32BE((ids[at] as number) - first, 4 * (at - 1))
  return others
}

/** The ids of the transactions of a row, the newest first. */
export function* newestIds(first: number, others: Buffer): Generator<number> {
  for (let at = others.length - 4; at >= 0; at -= 4) yield first + others.readUInt32BE(at)
  yield first
}

function insertTxs({ statement }: Connection, height: number, { txs, results, accounts }: HistoryBlock): void {
  const insertTx = statement('INSERT INTO transactions VALUES (?, ?, ?, ?, ?)')
  for (const [index, tx] of txs.entries())
    insertTx.run(txIdOf(height, index), hashStart(sha256(tx)), tx, results[index], accounts[index])
  const insertRow = statement('INSERT INTO account_transactions VALUES (?, ?, ?)')
  for (const [account, ids] of idsByAccount(height, accounts))
    for (let at = 0; at < ids.length; at += TXS_OF_A_ROW)
      insertRow.run(account, ids[at], printOthers(ids.slice(at, at + TXS_OF_A_ROW)))
}

function insertEvents({ statement }: Connection, height: number, { events }: HistoryBlock): void {
  for (const [at, { owner, type, attributes, txIndex }] of events.entries()) {
    const key = addressBytes(owner as Address)
    if (type === stakeEvents.award.type) {
      const { amount } = JSON.parse(attributes) as { readonly amount: string }
      statement('INSERT INTO awards VALUES (?, ?, ?)').run(key, height, amount)
    } else {
      statement('INSERT INTO validator_events VALUES (?, ?, ?, ?, ?)').run(
        key,
        height,
        txIndex ?? OWN_EVENTS_FROM + at,
        type,
        attributes,
      )
    }
  }
}

function insertBlock(connection: Connection, height: number, block: HistoryBlock): void {
  connection.statement('INSERT INTO blocks VALUES (?, ?)').run(height, block.timeMs)
  insertTxs(connection, height, block)
  insertEvents(connection, height, block)
}

/** Removes a block; returns how many transactions it had. */
function removeBlock({ statement }: Connection, height: number): number {
  const ids = [txIdOf(height, 0), txIdOf(height + 1, 0) - 1]
  const txs = statement('SELECT accounts FROM transactions WHERE id BETWEEN ? AND ?').all(...ids) as [Buffer][]
  const accounts = txs.map(([concerned]) => concerned)
  const removeRows = statement('DELETE FROM account_transactions WHERE account = ? AND first_id BETWEEN ? AND ?')
  for (const [account] of idsByAccount(height, accounts)) removeRows.run(account, ...ids)
  statement('DELETE FROM transactions WHERE id BETWEEN ? AND ?').run(...ids)
  for (const table of ['validator_events', 'awards', 'blocks'])
    statement(`DELETE FROM ${table} WHERE height = ?`).run(height)
  return txs.length
}

/** A block and its height. */
export type AtHeight = readonly [height: number, block: HistoryBlock]

/** The rows that one transaction removes, about. */
const REMOVED_MAX = 10_000

/** The index, opened for writing. Two writers may be there: the node's, and the one that rebuilds. */
export type HistoryWriter = ReturnType<typeof openHistoryWriter>

/**
 * Opens an index that `prepareHistory` has prepared. `cacheKib`: the memory for pages of the file. Hashes and accounts come
 * in no order, and their pages are written again and again.
 */
export function openHistoryWriter(path: string, cacheKib: number) {
  const connection = openConnection(path, { readonly: false })
  const { db, close } = connection
  db.pragma(`cache_size = -${cacheKib}`)
  const span = (): HistorySpan | undefined => spanOf(connection)
  const add = (blocks: readonly AtHeight[]): boolean => {
    const [[from] = [0], [to] = [0]] = [blocks[0], blocks.at(-1)]
    const held = span()
    if (held !== undefined && from !== held.last + 1 && to !== held.first - 1) return false
    for (const [height, block] of blocks) insertBlock(connection, height, block)
    return true
  }
  const clear = (): void => {
    for (const table of ['transactions', 'account_transactions', 'validator_events', 'awards', 'blocks'])
      db.exec(`DELETE FROM ${table}`)
  }
  const cutAbove = (height: number): void => {
    if ((span()?.first ?? 0) > height) return clear()
    for (let held = span(); held !== undefined && held.last > height; held = span()) removeBlock(connection, held.last)
  }
  const lowest = (): number => Number(readMeta(connection, 'cut_below') ?? 0)
  const cutBelow = (height: number): boolean => {
    if (height !== lowest()) writeMeta(connection, 'cut_below', String(height))
    let removed = 0
    for (let held = span(); held !== undefined && held.first < height; held = span()) {
      if (removed > REMOVED_MAX) return true
      removed += 1 + removeBlock(connection, held.first)
    }
    return false
  }
  return {
    span,
    /** Removes all blocks. */
    clear: (): void => db.transaction(clear).immediate(),
    /**
     * Adds blocks that follow each other, all or none, in one transaction. Returns false, and adds nothing, when they fit
     * neither behind the last block nor before the first one.
     */
    add: (blocks: readonly AtHeight[]): boolean => db.transaction(() => add(blocks)).immediate(),
    /** Removes the blocks above a height: few, or all. */
    cutAbove: (height: number): void => db.transaction(() => cutAbove(height)).immediate(),
    /** Removes blocks below a height, the lowest first; some may be left to a later call. Returns false when none are. */
    cutBelow: (height: number): boolean => db.transaction(() => cutBelow(height)).immediate(),
    /** The height below which blocks were removed last, and will be again; 0 when all are kept. */
    lowest,
    close,
  }
}
