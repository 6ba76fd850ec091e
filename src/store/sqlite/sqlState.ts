import { fromHex } from '../../base/bytes.ts'
import { fromLatin1 } from '../sorted.ts'
import { BEFORE_ALL, type BlockRecord, type CommittedState, unlessWritten } from '../store.ts'
import type { Table } from '../table.ts'
import { type Hash, HASH_BYTES } from '../tree/node.ts'
import { type CommitmentProof, proveKey } from '../tree/proof.ts'
import { type ReadPage, rootOfTables } from '../tree/tree.ts'
import { type Connection, failCorrupt, readMeta } from '../../base/sqlite.ts'
import { createSqlTable, type SqlTable } from './sqlTable.ts'
import { createTreeReader } from './sqlTree.ts'

/** A committed state as one connection sees it, and what the writer of the file needs beside. */
export interface SqlState extends CommittedState {
  /** Throws for a table that the store was opened without. */
  sqlTable(table: Table): SqlTable
  /** `prove` in the tree of these pages. */
  proveIn(readPage: ReadPage, table: Table, key: object): CommitmentProof | undefined
  lastBlock(): BlockRecord
}

const SELECT_BLOCK = 'SELECT height, time_ms, app_hash, transactions FROM blocks'

function blockOf(raw: unknown): BlockRecord | undefined {
  if (raw === undefined) return undefined
  const [height, timeMs, hex, transactions] = raw as [bigint, bigint, unknown, bigint]
  const appHash = fromHex(String(hex))
  if (appHash?.length !== HASH_BYTES)
    failCorrupt('SQLITE_CORRUPT_ROW', `block ${height} has the app hash ${JSON.stringify(hex)}`)
  return {
    height: Number(height),
    timeMs: Number(timeMs),
    appHash,
    transactions: Number(transactions),
  }
}

/** Creates the reads over `connection`. A scan under way throws once `writes` has changed. */
export function createSqlState(connection: Connection, tables: readonly Table[], writes: () => number): SqlState {
  const { statement } = connection
  const sqlTables = new Map(tables.map((table) => [table.name, createSqlTable(connection, table)]))
  const pagesOf = createTreeReader(connection)

  const sqlTable = ({ name }: Table): SqlTable => {
    const found = sqlTables.get(name)
    if (found === undefined) throw new Error(`the store was opened without table ${name}`)
    return found
  }
  const leafRow = (keyHash: Hash): { key: Uint8Array; value: Uint8Array } => {
    const raw = statement('SELECT state_key FROM tree_keys WHERE key_hash = ?').get(fromLatin1(keyHash))
    const [key] = raw as [Uint8Array]
    const table = tables.find(({ tag }) => tag === key[0]) as Table
    return { key, value: table.encode(sqlTable(table).get(table.parseKey(key) as object) as object) }
  }
  const lastBlock = (): BlockRecord =>
    blockOf(statement(`${SELECT_BLOCK} ORDER BY height DESC LIMIT 1`).get()) ?? BEFORE_ALL

  const state: SqlState = {
    sqlTable,
    lastBlock,
    get: <R>(table: Table, key: object) =>
      (table.derived === undefined ? sqlTable(table).get(key) : table.derived.derive(state, key)) as R | undefined,
    find: <R>(table: Table, index: string, key: Uint8Array) => {
      const found = sqlTable(table).findKey(index, key)
      return (found && sqlTable(table).get(found)) as R | undefined
    },
    scan: <R>(table: Table, scan = {}) => unlessWritten(sqlTable(table).scan(scan), writes) as Iterable<R>,
    count: (table, scan = {}) => sqlTable(table).count(scan),
    rank: (table, index, row) => sqlTable(table).rank(index, row),
    height: () => lastBlock().height,
    appHash: () => lastBlock().appHash,
    timeMs: () => lastBlock().timeMs,
    chainId: () => readMeta(connection, 'chain_id'),
    block: (height) => blockOf(statement(`${SELECT_BLOCK} WHERE height = ?`).get(height)),
    proveIn: (readPage, table, key) => (table.hashed ? proveKey(readPage, table.keyOf(key), leafRow) : undefined),
    prove: (table, key) => state.proveIn(pagesOf(lastBlock()), table, key),
    recomputeRoot: () => rootOfTables(state, tables),
  }
  return state
}
