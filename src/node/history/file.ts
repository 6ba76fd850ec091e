/** The index of histories: a database of its own beside the state, which holds nothing that the blocks do not tell. */
import { rmSync } from 'node:fs'
import { ADDRESS_BYTES, type Address, addressBytes } from '../../base/address.ts'
import { sha256 } from '../../base/sha256.ts'
import { AWARD_EVENT } from '../../modules/stake/block.ts'
import { type Connection, openConnection, sqliteCode, tablesIn } from '../../store/sqlite/connection.ts'
import { readMeta, writeMeta } from '../../store/sqlite/schema.ts'
import type { HistoryBlock, HistoryTx } from './block.ts'

/** What a file must be to be read by this program. */
const SCHEMA_VERSION = '1'

/** What a block's own events count from, so that they are newer than its transactions, which count from 0. */
export const OWN_EVENTS_FROM = 500_000_000

// Transactions and events are found by (height, place), where place counts within the block. A table that holds the
// bytes has a rowid: its inner pages then hold keys alone.
const TABLES = [
  'CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT',
  'CREATE TABLE blocks (height INTEGER NOT NULL PRIMARY KEY, time_ms INTEGER NOT NULL) STRICT',
  `CREATE TABLE transactions (height INTEGER NOT NULL, place INTEGER NOT NULL, hash_start INTEGER NOT NULL, tx BLOB NOT NULL,
    code INTEGER NOT NULL, log TEXT NOT NULL, info TEXT NOT NULL, data BLOB NOT NULL, gas_used INTEGER NOT NULL,
    accounts BLOB NOT NULL, PRIMARY KEY (height, place)) STRICT`,
  'CREATE INDEX transactions_by_hash ON transactions (hash_start)',
  `CREATE TABLE account_transactions (account BLOB NOT NULL, height INTEGER NOT NULL, place INTEGER NOT NULL,
    PRIMARY KEY (account, height, place)) WITHOUT ROWID, STRICT`,
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
    const { name, message } = error as Error
    if (name !== 'StoreError' && !/^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')) throw error
    return message
  }
}

/**
 * Makes sure that there is an index of this chain at `path`. One that cannot be used is removed, because the blocks hold
 * all that it held. Returns why it was.
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

const SPAN = 'SELECT min(height), max(height) FROM blocks'

/** Reads the heights that an index holds; undefined while it holds none. */
export function spanOf({ statement }: Connection): HistorySpan | undefined {
  const [first, last] = statement(SPAN).get() as [bigint | null, bigint | null]
  return first === null || last === null ? undefined : { first: Number(first), last: Number(last) }
}

/** The first 8 bytes of a transaction's hash, by which it is found. Others may have the same: compare the whole hash. */
export const hashStart = (hash: Uint8Array): bigint => Buffer.from(hash.buffer, hash.byteOffset, 8).readBigInt64BE()

function insertTx({ statement }: Connection, height: number, place: number, one: HistoryTx): void {
  const { tx, code, log, info, data, gasUsed, accounts, validators, event } = one
  const keys = accounts.map(addressBytes)
  statement('INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    height,
    place,
    hashStart(sha256(tx)),
    tx,
    code,
    log,
    info,
    data,
    gasUsed,
    Buffer.concat(keys),
  )
  for (const key of keys) statement('INSERT INTO account_transactions VALUES (?, ?, ?)').run(key, height, place)
  if (event === undefined) return
  for (const owner of validators) insertEvent({ statement }, owner, height, place, event)
}

const insertEvent = (
  { statement }: Pick<Connection, 'statement'>,
  owner: string,
  height: number,
  place: number,
  { type, attributes }: { readonly type: string; readonly attributes: string },
): void =>
  void statement('INSERT INTO validator_events VALUES (?, ?, ?, ?, ?)').run(
    addressBytes(owner as Address),
    height,
    place,
    type,
    attributes,
  )

function insertBlock(connection: Connection, height: number, { timeMs, transactions, events }: HistoryBlock): void {
  const { statement } = connection
  statement('INSERT INTO blocks VALUES (?, ?)').run(height, timeMs)
  for (const [place, one] of transactions.entries()) insertTx(connection, height, place, one)
  for (const [at, { owner, ...event }] of events.entries()) {
    if (event.type !== AWARD_EVENT) insertEvent(connection, owner, height, OWN_EVENTS_FROM + at, event)
    else {
      const { amount } = JSON.parse(event.attributes) as { readonly amount: string }
      statement('INSERT INTO awards VALUES (?, ?, ?)').run(addressBytes(owner as Address), height, amount)
    }
  }
}

/** The tables with rows that are found by the height of their block. */
const BLOCK_TABLES = ['transactions', 'validator_events', 'awards', 'blocks'] as const

function removeBlock({ statement }: Connection, height: number): number {
  const txs = statement('SELECT place, accounts FROM transactions WHERE height = ?').all(height) as [bigint, Buffer][]
  for (const [place, accounts] of txs) {
    for (let at = 0; at < accounts.length; at += ADDRESS_BYTES)
      statement('DELETE FROM account_transactions WHERE account = ? AND height = ? AND place = ?').run(
        accounts.subarray(at, at + ADDRESS_BYTES),
        height,
        place,
      )
  }
  for (const table of BLOCK_TABLES) statement(`DELETE FROM ${table} WHERE height = ?`).run(height)
  return txs.length
}

/** A block and its height. */
export type AtHeight = readonly [height: number, block: HistoryBlock]

/** The rows that one transaction removes, about. */
const REMOVED_MAX = 10_000

/** The memory for pages of the file: hashes and accounts come in no order, and their pages are written again and again. */
const CACHE_KIB = 64 * 1024

/** The index, opened for writing. Two writers may be there: the node's, and the one that rebuilds. */
export interface HistoryWriter {
  readonly span: () => HistorySpan | undefined
  /**
   * Adds blocks that follow each other, all or none, in one transaction. Returns false, and adds nothing, when they fit
   * neither behind the last block nor before the first one.
   */
  readonly add: (blocks: readonly AtHeight[]) => boolean
  /** Removes the blocks above a height, which are few. */
  readonly cutAbove: (height: number) => void
  /** Removes all blocks. */
  readonly clear: () => void
  /** Removes blocks below a height, the lowest first; some may be left to a later call. Returns false when none are. */
  readonly cutBelow: (height: number) => boolean
  readonly close: () => void
}

/** Opens an index that `prepareHistory` has prepared. */
export function openHistoryWriter(path: string): HistoryWriter {
  const connection = openConnection(path, { readonly: false })
  const { db, close } = connection
  db.pragma(`cache_size = -${CACHE_KIB}`)
  const span = (): HistorySpan | undefined => spanOf(connection)
  const add = (blocks: readonly AtHeight[]): boolean => {
    const [[from] = [0], [to] = [0]] = [blocks[0], blocks.at(-1)]
    const held = span()
    if (held !== undefined && from !== held.last + 1 && to !== held.first - 1) return false
    for (const [height, block] of blocks) insertBlock(connection, height, block)
    return true
  }
  const cutAbove = (height: number): void => {
    for (let held = span(); held !== undefined && held.last > height; held = span()) removeBlock(connection, held.last)
  }
  const cutBelow = (height: number): boolean => {
    let removed = 0
    for (let held = span(); held !== undefined && held.first < height; held = span()) {
      if (removed > REMOVED_MAX) return true
      removed += 1 + removeBlock(connection, held.first)
    }
    return false
  }
  const clear = (): void => {
    for (const table of [...BLOCK_TABLES, 'account_transactions']) db.exec(`DELETE FROM ${table}`)
  }
  return {
    span,
    clear: () => db.transaction(clear).immediate(),
    add: (blocks) => db.transaction(() => add(blocks)).immediate(),
    cutAbove: (height) => db.transaction(() => cutAbove(height)).immediate(),
    cutBelow: (height) => db.transaction(() => cutBelow(height)).immediate(),
    close,
  }
}
