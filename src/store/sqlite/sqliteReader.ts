import { fromHex } from '../../base/bytes.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Hash } from '../tree/node.ts'
import { type ReadPage, rootOfTables } from '../tree/tree.ts'
import { checkVersion, readMeta } from './schema.ts'
import { bytesOf } from '../sorted.ts'
import { makeSqlTable, type SqlTable } from './sqlTable.ts'
import { createTreeReader } from './sqlTree.ts'
import type { Scan } from '../state.ts'
import {
  type AnyTable,
  BEFORE_ALL,
  type BlockRecord,
  type CommittedState,
  type Reader,
  unlessWritten,
} from '../store.ts'
import type { Table } from '../table.ts'
import { type CommitmentProof, proveKey } from '../tree/proof.ts'

/** A committed state as one connection sees it, and what its writer needs beside. */
export interface SqlState extends CommittedState {
  need(table: { readonly name: string }): SqlTable
  /** `prove` in the tree of these pages. */
  proveIn(readPage: ReadPage, table: AnyTable, key: object): CommitmentProof | undefined
  last(): BlockRecord
}

const BLOCK = 'SELECT height, time_ms, app_hash, transactions FROM blocks'

function blockOf(raw: unknown): BlockRecord | undefined {
  if (raw === undefined) return undefined
  const [height, timeMs, appHash, transactions] = raw as [bigint, bigint, string, bigint]
  return {
    height: Number(height),
    timeMs: Number(timeMs),
    appHash: fromHex(appHash) as Uint8Array,
    transactions: Number(transactions),
  }
}

/** Reads from `connection`. `writes` changes with whatever ends the walks under way. */
export function makeSqlState(connection: Connection, tables: readonly Table[], writes: () => number): SqlState {
  const { statement } = connection
  const byName = new Map(tables.map((table) => [table.name, makeSqlTable(connection, table)]))

  const need = ({ name }: { readonly name: string }): SqlTable => {
    const table = byName.get(name)
    if (table === undefined) throw new Error(`the store was opened without table ${name}`)
    return table
  }
  const leafRow = (keyHash: Hash): { key: Uint8Array; value: Uint8Array } => {
    const [key] = statement('SELECT state_key FROM tree_keys WHERE key_hash = ?').get(bytesOf(keyHash)) as [Uint8Array]
    const table = tables.find(({ tag }) => tag === key[0]) as Table
    return { key, value: table.encode(need(table).get(table.parseKey(key) as object) as object) }
  }
  const treeOf = createTreeReader(connection)
  const last = (): BlockRecord => blockOf(statement(`${BLOCK} ORDER BY height DESC LIMIT 1`).get()) ?? BEFORE_ALL

  const state: SqlState = {
    need,
    last,
    get: (table, key) => need(table).get(key) as never,
    scan: <R>(table: { readonly name: string }, scan: Scan<string> = {}) =>
      unlessWritten(need(table).scan(scan), writes) as Iterable<R>,
    count: (table, scan = {}) => need(table).count(scan),
    rank: (table, index, row) => need(table).rank(index, row),
    height: () => last().height,
    appHash: () => last().appHash,
    timeMs: () => last().timeMs,
    chainId: () => readMeta(connection, 'chain_id'),
    block: (height) => blockOf(statement(`${BLOCK} WHERE height = ?`).get(height)),
    proveIn: (readPage, table, key) =>
      table.hashed ? proveKey(readPage, table.keyOf(key as never), leafRow) : undefined,
    prove: (table, key) => state.proveIn(treeOf(last()), table, key),
    recomputeRoot: () => rootOfTables(state, tables),
  }
  return state
}

/** A reader that also tells when what it reads was written. */
export interface SqliteReader extends Reader {
  /** Another number whenever anything was committed since; asked within a `read`, it is that of the state read. */
  version(): bigint
}

/**
 * A read-only connection to the state in `path`, in this process or another while a node writes it. StoreError when the
 * file is not there or is no state of a version that we know. A `read` within a `read` sees the same state.
 */
export function openSqliteReader({
  path,
  tables,
}: {
  readonly path: string
  readonly tables: readonly AnyTable[]
}): SqliteReader {
  const connection = openConnection(path, { readonly: true })
  try {
    checkVersion(connection, path)
  } catch (error) {
    connection.close()
    throw error
  }
  let reads = 0
  const state = makeSqlState(connection, tables as readonly unknown[] as readonly Table[], () => reads)
  return {
    read: (fn) => {
      if (connection.db.inTransaction) return fn(state)
      connection.db.exec('BEGIN')
      try {
        const result = fn(state)
        if (typeof (result as { readonly then?: unknown } | undefined)?.then === 'function')
          throw new TypeError('read: what runs on a state is synchronous')
        return result
      } finally {
        reads++
        connection.db.exec('COMMIT')
      }
    },
    version: () => (connection.statement('PRAGMA data_version').get() as [bigint])[0],
    close: connection.close,
  }
}
