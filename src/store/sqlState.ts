import { fromHex } from '../base/bytes.ts'
import type { Connection } from './connection.ts'
import type { Hash } from './node.ts'
import { rootOfTables } from './root.ts'
import { readMeta } from './schema.ts'
import { bytesOf } from './sorted.ts'
import { makeSqlTable, type SqlTable } from './sqlTable.ts'
import { createTreeReader } from './sqlTree.ts'
import type { Scan } from './state.ts'
import { type AnyTable, BEFORE_ALL, type BlockRecord, type CommittedState, unlessWritten } from './store.ts'
import type { Table } from './table.ts'
import type { ReadPage } from './tree.ts'
import { type CommitmentProof, proveKey } from './treeProof.ts'

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
