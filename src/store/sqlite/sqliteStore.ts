import { toHex } from '../../base/bytes.ts'
import { createDerivedRows, type DerivedRows } from '../derivedRows.ts'
import { type Change, hasIndexKey } from '../overlay.ts'
import { toLatin1 } from '../sorted.ts'
import {
  assertFollows,
  assertLocal,
  assertTables,
  type BlockInfo,
  type BlockRecord,
  type PreparedBlock,
  prepareBlock,
  type Store,
  unlessWritten,
  type View,
} from '../store.ts'
import type { Table } from '../table.ts'
import { updateTreeByRows } from '../tree/tree.ts'
import { assertRolledBack, changesBack, encodeUndo, noUndo } from '../undo.ts'
import { indexesInSql, indexTableName } from './columns.ts'
import { type Connection, failCorrupt, openConnection, readMeta, takeLock, writeMeta } from '../../base/sqlite.ts'
import { createRowCache, type RowCache } from './rowCache.ts'
import { checkChain, OWN_TABLES, prepareSchema } from './schema.ts'
import { createSqlState, type SqlState } from './sqlState.ts'
import { openSqlTree } from './sqlTree.ts'

/** Options of `openSqliteStore`. */
export interface StoreOptions {
  /** The path of the database. `<path>.lock` is created beside it. */
  readonly path: string
  /** All tables. One that is left out cannot be read or written. */
  readonly tables: readonly Table[]
  /** SQL views for people who look into the file, created anew each time. */
  readonly views?: readonly View[]
  /** StoreError when the file is another chain's. */
  readonly expectChainId?: string
  /** How many tree pages stay in memory; at most twice as many do. */
  readonly pagesCached?: number
  /** The most memory that rows may take (rowCache.ts). */
  readonly rowCacheBytesMax?: number
  /** The most entries of derived rows that stay in memory (derivedRows.ts). */
  readonly derivedEntriesMax?: number
  /** The most bytes that are kept to roll the last block back (undo.ts). */
  readonly undoBytesMax?: number
}

/**
 * The most rows of `blocks` that one commit removes: an operator who turns pruning on for an old chain must not wait for
 * all of them at once.
 */
const BLOCKS_PRUNED_MAX = 1000

// PERF: the limit is not bound, as in sqlTable.ts.
const PRUNE = `DELETE FROM blocks WHERE height IN (SELECT height FROM blocks WHERE height < ? ORDER BY height LIMIT ${BLOCKS_PRUNED_MAX})`

/** The file of a store, opened for writing. */
type StoreFile = ReturnType<typeof openFile>

function openFile(options: StoreOptions, writes: () => number) {
  const { path, tables, views = [], expectChainId, pagesCached = 4096, undoBytesMax } = options
  const lock = takeLock(path)
  let connection: Connection | undefined
  const close = (): void => {
    connection?.close()
    lock.close()
  }
  try {
    connection = openConnection(path, { readonly: false })
    prepareSchema(connection, path, tables, views)
    checkChain(connection, path, expectChainId)
    const state = createSqlState(connection, tables, writes)
    const tree = openSqlTree(connection, state.lastBlock(), pagesCached)
    return { connection, tables, state, tree, undoBytesMax, close }
  } catch (error) {
    close()
    throw error
  }
}

/**
 * Writes a block within a transaction. Call the function returned once that is on disk: it brings the tree's memory up
 * to date.
 */
function writeBlock(file: StoreFile, prepared: PreparedBlock, block: BlockInfo): () => void {
  const { connection, state, tree, undoBytesMax } = file
  const { statement } = connection
  const { height, timeMs, transactions, blocksFrom, journal } = block
  for (const { table, key, before, after } of prepared.changes) {
    if (table.derived !== undefined) continue
    const sqlTable = state.sqlTable(table)
    // The node's own rows may have been written since this block was prepared.
    sqlTable.write(key, table.hashed ? before : sqlTable.get(table.parseKey(key) as object), after)
  }
  const keepTree = tree.write(height, prepared.tree)
  const undo = encodeUndo(prepared.changes, undoBytesMax)
  statement('DELETE FROM undo').run()
  if (undo !== undefined) statement('INSERT INTO undo VALUES (?, ?)').run(height, undo)
  statement('INSERT INTO blocks VALUES (?, ?, ?, ?)').run(height, timeMs, toHex(prepared.appHash), transactions)
  if (blocksFrom !== undefined) statement(PRUNE).run(blocksFrom)
  if (journal !== undefined) {
    statement('DELETE FROM journal WHERE height <= ?').run(journal.doneTo)
    statement('INSERT INTO journal VALUES (?, ?)').run(height, journal.block)
  }
  if (state.chainId() === undefined) writeMeta(connection, 'chain_id', block.chainId)
  return keepTree
}

/**
 * Takes the last block of the file back within a transaction; returns the block that is now the last one, the rows that
 * changed, and a function that brings the tree's memory up to date. StoreError when nothing is kept for the block, or the
 * rows are not as committed.
 */
function undoLastBlock({ connection, tables, state, tree }: StoreFile, agree: Parameters<Store['rollback']>[0]) {
  const { statement } = connection
  const height = state.height()
  const raw = statement('SELECT rows_before FROM undo WHERE height = ?').get(height) as [Uint8Array] | undefined
  if (raw === undefined) throw noUndo(height)
  const changes = changesBack(raw[0], tables, state)
  const treeBefore = updateTreeByRows(tree.readPage, changes)
  for (const { table, key, before, after } of changes) state.sqlTable(table).write(key, before, after)
  const keepTree = tree.writeBack(treeBefore)
  statement('DELETE FROM blocks WHERE height = ?').run(height)
  statement('DELETE FROM journal WHERE height = ?').run(height)
  const last = state.lastBlock()
  if (last.height === 0) statement("DELETE FROM meta WHERE name = 'chain_id'").run()
  assertRolledBack(treeBefore.root, last)
  agree?.(last)
  return { last, changes, keepTree }
}

/** The SQL tables that are the state: rows and their indexes, and the store's own. */
const stateTables = (tables: readonly Table[]): readonly string[] => [
  ...tables
    .filter(({ hashed }) => hashed)
    .flatMap((table) => [table.name, ...indexesInSql(table).map((index) => indexTableName(table, index))]),
  ...Object.keys(OWN_TABLES),
]

/** Copies the state in the database `from` over that of a store, in one transaction. Throws when it is another chain's. */
function copyState({ connection, tables }: StoreFile, from: string): void {
  const { db } = connection
  db.prepare('ATTACH DATABASE ? AS restored').run(from)
  try {
    db.transaction(() => {
      const [chainId] = db.prepare("SELECT value FROM restored.meta WHERE name = 'chain_id'").raw().get() as [string]
      const own = readMeta(connection, 'chain_id')
      if (own !== undefined && own !== chainId)
        throw new Error(`the restored state is of chain ${chainId}, not of ${own}`)
      for (const name of stateTables(tables))
        db.exec(`DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM restored."${name}"`)
    }).immediate()
  } catch (error) {
    // The log keeps what did not fit into memory, up to the whole state, and the next restore needs the disk.
    db.pragma('main.wal_checkpoint(TRUNCATE)')
    throw error
  } finally {
    db.exec('DETACH DATABASE restored')
  }
}

const failMissingRow = ({ name }: Table): never =>
  failCorrupt('SQLITE_CORRUPT_INDEX', `an index of table ${name} names a row that is not there`)

/** Reads of committed rows, which stay in memory. */
function rowsThrough(state: SqlState, rowCache: RowCache, derivedRows: DerivedRows) {
  const getRow = (table: Table, key: object): object | undefined => {
    if (table.derived !== undefined) return derivedRows.get(table, key)
    const id = table.mapKey(key)
    const known = rowCache.get(table, id)
    if (known !== undefined) return known ?? undefined
    const row = state.get(table, key)
    rowCache.set(table, id, row ?? null)
    return row
  }

  /** The row that an index names. */
  const rowIn = (table: Table, key: object): object => getRow(table, key) ?? failMissingRow(table)

  // PERF: what key a row was found by stays in memory beside the rows. It need not be kept up to date: a row that no
  // longer stands under those bytes is looked for anew.
  const findRow = (table: Table, index: string, key: Uint8Array): object | undefined => {
    const id = `\0${index}\0${toLatin1(key)}`
    const known = rowCache.get(table, id)
    const row = known ? getRow(table, known) : undefined
    if (hasIndexKey(table, index, row, key)) return row
    const found = state.sqlTable(table).findKey(index, key)
    if (found === undefined) return undefined
    rowCache.set(table, id, found)
    return rowIn(table, found)
  }
  return { getRow, rowIn, findRow }
}

/** A store that can take a whole other state in place of its own. */
export interface SqliteStore extends Store {
  /**
   * Takes the state in the database `from`, made by `openRestore`, in place of this one: all of it in one transaction,
   * so that a crash leaves the old one or the new one. Tables that are not hashed stay. Throws when it is another
   * chain's.
   */
  replaceBy(from: string): void
}

/**
 * Opens the state in the SQLite database `path`, and creates it when it is not there. There is one writer at a time, and
 * any number of readers. StoreError, for the operator of the node, when the file is not a store's, is another chain's, has
 * another schema version, or is open for writing. Failures of the disk are thrown as SQLite reports them, with their
 * `code`.
 *
 * @example
 * const store = openSqliteStore({ path: 'state.db', tables: [balances] })
 * const block = createOverlay(store)
 * block.put(balances, { owner: 'alice', amount: 5n, nonce: 1 })
 * const prepared = store.prepare(block)
 * store.commit(prepared, { chainId: 'my-chain', height: store.height() + 1, timeMs: 1_767_225_600_000, transactions: 1 })
 */
export function openSqliteStore(options: StoreOptions): SqliteStore {
  const { tables, rowCacheBytesMax, derivedEntriesMax } = options
  assertTables(tables)
  let writes = 0
  const file = openFile(options, () => writes)
  const { connection, state, tree, close } = file
  const rowCache = createRowCache(tables, rowCacheBytesMax)
  const derivedRows = createDerivedRows(state, derivedEntriesMax)
  let last = state.lastBlock()
  let chainId = state.chainId()

  const { getRow, rowIn, findRow } = rowsThrough(state, rowCache, derivedRows)

  // Memory changes after the transaction, with everything that the transaction wrote.
  const remember = (block: BlockRecord, changes: readonly Change[], keepTree: () => void): void => {
    writes++
    last = block
    for (const { table, key, before, after } of changes)
      if (table.derived === undefined)
        rowCache.set(table, table.mapKey(after ?? before ?? (table.parseKey(key) as object)), after ?? null)
    keepTree()
  }

  const writeLocal = (table: Table, key: object, row: object | undefined): void => {
    assertLocal(table)
    const after = row === undefined || table.isDefault(row) ? undefined : Object.freeze(row)
    const sqlTable = state.sqlTable(table)
    connection.db.transaction(() => sqlTable.write(table.keyOf(key), sqlTable.get(key), after)).immediate()
    writes++
    rowCache.set(table, table.mapKey(key), after ?? null)
  }

  const store: SqliteStore = {
    ...state,
    get: <R>(table: Table, key: object) => getRow(table, key) as R | undefined,
    find: <R>(table: Table, index: string, key: Uint8Array) => findRow(table, index, key) as R | undefined,
    scan: <R>(table: Table, scan = {}) =>
      unlessWritten(
        state.sqlTable(table).scan(scan, (key) => rowIn(table, key)),
        () => writes,
      ) as Iterable<R>,
    prove: (table, key) => state.proveIn(tree.readPage, table, key),
    height: () => last.height,
    appHash: () => last.appHash,
    timeMs: () => last.timeMs,
    chainId: () => chainId,
    prepare: (overlay) => prepareBlock(store, tree.readPage, overlay),
    commit: (prepared, block) => {
      assertFollows(store, prepared, block)
      const keepTree = connection.db.transaction(() => writeBlock(file, prepared, block)).immediate()
      const { height, timeMs, transactions } = block
      chainId = block.chainId
      remember({ height, timeMs, appHash: prepared.appHash, transactions }, prepared.changes, keepTree)
      derivedRows.keep(prepared.changes)
    },
    rollback: (agree) => {
      const {
        last: before,
        changes,
        keepTree,
      } = connection.db.transaction(() => undoLastBlock(file, agree)).immediate()
      chainId = state.chainId()
      remember(before, changes, keepTree)
      derivedRows.clear()
    },
    replaceBy: (from) => {
      copyState(file, from)
      writes++
      last = state.lastBlock()
      chainId = state.chainId()
      rowCache.clear()
      derivedRows.clear()
      tree.forget()
    },
    putLocal: (table, row) => writeLocal(table, row, row),
    removeLocal: (table, key) => writeLocal(table, key, undefined),
    close,
  }
  return store
}
