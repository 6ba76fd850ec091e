import { type Connection, openConnection, takeLock } from './connection.ts'
import type { Change } from '../overlay.ts'
import { makeSqlState, openSqliteReader, type SqlState } from './sqliteReader.ts'
import { openSqlTree, type SqlTree, type TreeWrite } from './sqlTree.ts'
import {
  type AnyTable,
  assertFollows,
  assertLocal,
  assertTables,
  type BlockInfo,
  type BlockRecord,
  type PreparedBlock,
  type Store,
  unlessWritten,
} from '../store.ts'
import type { MapKey, Table } from '../table.ts'
import { treeChangesOf, updateTree } from '../tree/tree.ts'
import { assertBack, changesBack, encodeUndo, nothingKept } from '../undo.ts'
import { toHex } from '../../base/bytes.ts'
import { type Cache, makeCache } from '../cache.ts'
import { checkChain, prepareSchema, type View, writeMeta } from './schema.ts'
import { copyState } from '../snapshot/restore.ts'
import { makeScanCache, type ScanCache } from './scanCache.ts'
import type { Scan, StateReader } from '../state.ts'

/** Keeps what takes `changes` back, in place of what took back the block before. */
export function writeUndo({ statement }: Connection, height: number, changes: readonly Change[]): void {
  statement('DELETE FROM undo').run()
  statement('INSERT INTO undo VALUES (?, ?)').run(height, encodeUndo(changes))
}

/** A block that was taken back: what is committed now, and what differs. */
export interface Undone {
  readonly last: BlockRecord
  readonly changes: readonly Change[]
  /** Brings the tree's memory up to date. */
  readonly keepTree: () => void
}

interface Agreed {
  readonly tables: readonly Table[]
  readonly tree: SqlTree
  readonly agree: Parameters<Store['rollback']>[0]
}

/**
 * Takes the last block of the file back, whole or not at all. StoreError when nothing is kept for it, or the rows are
 * not as committed.
 */
export function undoLastBlock(connection: Connection, state: SqlState, { tables, tree, agree }: Agreed): Undone {
  const { statement } = connection
  const undo = (): Undone => {
    const height = state.height()
    const kept = statement('SELECT rows_before FROM undo WHERE height = ?').get(height) as [Uint8Array] | undefined
    if (kept === undefined) throw nothingKept(height)
    const changes = changesBack(kept[0], tables, state)
    const { leaves, keys } = treeChangesOf(changes)
    const update = updateTree(tree.readPage, leaves)
    for (const { table, key, before, after } of changes) state.need(table).write(key, before, after)
    const keepTree = tree.writeBack({ update, leaves, keys })
    statement('DELETE FROM blocks WHERE height = ?').run(height)
    const last = state.last()
    if (last.height === 0) statement("DELETE FROM meta WHERE name = 'chain_id'").run()
    assertBack(update.root, last)
    agree?.(last)
    return { last, changes, keepTree }
  }
  return connection.db.transaction(undo).immediate()
}

interface Prepared {
  /** Of the state that it was prepared above. */
  readonly height: number
  readonly tree: TreeWrite
}

/** What is written with a block. */
interface Target {
  readonly connection: Connection
  readonly state: SqlState
  readonly tree: SqlTree
}

interface Options {
  readonly path: string
  readonly tables: readonly AnyTable[]
  readonly views?: readonly View[]
  /** StoreError when the file is another chain's. */
  readonly expectChainId?: string
  /** Tree pages and rows of each table kept in memory: at most twice as many. */
  readonly pagesCached?: number
  readonly rowsCached?: number
}

/**
 * Most rows of `blocks` that go with one commit: whoever turns pruning on for an old chain must not wait for all of
 * them at once.
 */
const BLOCKS_PRUNED_MAX = 1000

// PERF: the limit is not bound, as in sqlScan.ts.
const PRUNE = `DELETE FROM blocks WHERE height IN (SELECT height FROM blocks WHERE height < ? ORDER BY height LIMIT ${BLOCKS_PRUNED_MAX})`

function openFiles({ path, tables, views = [], expectChainId, pagesCached = 8192 }: Options, writes: () => number) {
  const declared = tables as readonly unknown[] as readonly Table[]
  const lock = takeLock(path)
  let connection: Connection | undefined
  try {
    connection = openConnection(path, { readonly: false })
    prepareSchema(connection, path, declared, views)
    checkChain(connection, path, expectChainId)
    const state = makeSqlState(connection, declared, writes)
    const tree = openSqlTree(connection, state.last(), pagesCached)
    const { close } = connection
    return {
      connection,
      declared,
      state,
      tree,
      close: () => {
        close()
        lock.close()
      },
    }
  } catch (error) {
    connection?.close()
    lock.close()
    throw error
  }
}

/**
 * Writes a block whole, within a transaction. When that is on disk, what is returned brings the tree's memory up to
 * date.
 */
function writeBlock(
  { connection, state, tree }: Target,
  prepared: PreparedBlock,
  made: TreeWrite,
  block: BlockInfo,
): () => void {
  for (const { table, key, before, after } of prepared.changes) {
    // The node's own rows may have been written since this block was prepared.
    const held = table.hashed ? before : state.need(table).get(table.parseKey(key) as object)
    state.need(table).write(key, held, after)
  }
  const keepTree = tree.write(block.height, made)
  writeUndo(connection, block.height, prepared.changes)
  const { height, timeMs, transactions } = block
  connection
    .statement('INSERT INTO blocks VALUES (?, ?, ?, ?)')
    .run(height, timeMs, toHex(prepared.appHash), transactions)
  if (block.blocksFrom !== undefined) connection.statement(PRUNE).run(block.blocksFrom)
  return keepTree
}

/** What is kept in memory of what is on disk: rows and walks of each table; and the reads that ask there first. */
function makeCaches(state: SqlState, { tables, rowsCached = 65_536 }: Options, writes: () => number) {
  // By the table's tag.
  const rows: (Cache<MapKey, object | undefined> | undefined)[] = []
  const scans: (ScanCache | undefined)[] = []
  for (const table of tables as readonly unknown[] as readonly Table[]) {
    rows[table.tag] = makeCache(rowsCached)
    scans[table.tag] = makeScanCache(table, (key) => rowInIndex(table, key))
  }
  const getRow = (table: Table, key: object): object | undefined => {
    const cache = rows[table.tag]
    if (cache === undefined) return state.get(table, key)
    const id = table.mapKey(key)
    const known = cache.get(id)
    if (known !== undefined || cache.has(id)) return known
    const row = state.get(table, key)
    cache.set(id, row)
    return row
  }
  const rowInIndex = (table: Table, key: object): object => {
    const row = getRow(table, key)
    if (row !== undefined) return row
    // Its code is one of storage's: it stops the process and never becomes a verdict on a transaction (protocol.md §2,
    // code 1000).
    throw Object.assign(new Error(`an index of table ${table.name} names a row that is not there`), {
      code: 'SQLITE_CORRUPT_INDEX',
    })
  }
  const scanRows = (table: Table, scan: Scan<string>): Iterable<object> => {
    const walk = (): Iterable<object> => state.need(table).scan(scan, (key) => rowInIndex(table, key))
    return unlessWritten(scans[table.tag]?.scan(scan, walk) ?? walk(), writes)
  }
  const reads: Pick<StateReader, 'get' | 'scan'> = {
    get: (table, key) => getRow(table as unknown as Table, key) as never,
    scan: (table, scan = {}) => scanRows(table as unknown as Table, scan as Scan<string>) as never,
  }
  /** The row of a key is as in `after`, on disk too. */
  const put = ({ table, before, after }: Pick<Change, 'table' | 'before' | 'after'>, key: object): void => {
    rows[table.tag]?.set(table.mapKey(key), after)
    if (table.hashed) scans[table.tag]?.changed(before, after)
    // `before` is as the block was prepared: a row of the node's own may have been written since.
    else scans[table.tag]?.clear()
  }
  const forget = (): void => {
    for (const cache of [...rows, ...scans]) cache?.clear()
  }
  return { put, reads, forget }
}

/** A store that can take a whole other state in place of its own. */
export interface SqliteStore extends Store {
  /**
   * Takes the state in the database `from`, made by `beginRestore`, in place of this one: all of it in one transaction,
   * so that a crash leaves the old one or the new one. Tables that are not hashed stay. Throws when it is another
   * chain's.
   */
  replaceBy(from: string): void
}

/**
 * Opens the state in the SQLite database `path`, made when it is not there; one writer at a time, any number of
 * readers. StoreError (one line, for whoever runs the node) for a file that is not ours, is another chain's, a newer
 * release's, or is open for writing. Failures of the disk are thrown as SQLite tells them, with its `code`.
 */
export function openSqliteStore(options: Options): SqliteStore {
  const { path, tables } = options
  assertTables(tables)
  let writes = 0
  const { connection, declared, state, tree, close } = openFiles(options, () => writes)
  let last = state.last()
  let chainId = state.chainId()
  const { put, reads, forget } = makeCaches(state, options, () => writes)
  const madeHere = new WeakMap<PreparedBlock, Prepared>()

  // What is cached is what is on disk: it changes after the transaction, with everything that the transaction wrote.
  const remember = (block: BlockRecord, changes: readonly Change[], keepTree: () => void): void => {
    writes++
    last = block
    for (const change of changes)
      put(change, change.after ?? change.before ?? (change.table.parseKey(change.key) as object))
    keepTree()
  }

  const writeLocal = (
    asked: { readonly name: string; readonly hashed: boolean },
    key: object,
    after: object | undefined,
  ): void => {
    assertLocal(asked)
    const table = asked as Table
    const row = after === undefined || table.isDefault(after) ? undefined : Object.freeze(after)
    connection.db
      .transaction(() => state.need(table).write(table.keyOf(key), state.need(table).get(key), row))
      .immediate()
    writes++
    put({ table, before: undefined, after: row }, key)
  }

  const store: SqliteStore = {
    ...state,
    ...reads,
    prove: (table, key) => state.proveIn(tree.readPage, table, key),
    height: () => last.height,
    appHash: () => last.appHash,
    timeMs: () => last.timeMs,
    chainId: () => chainId,
    prepare: (overlay) => {
      const changes = overlay.changes(store)
      const { leaves, keys } = treeChangesOf(changes)
      const update = leaves.length === 0 ? { root: last.appHash, pages: new Map() } : updateTree(tree.readPage, leaves)
      const prepared = { appHash: update.root, changes }
      madeHere.set(prepared, { height: last.height, tree: { update, leaves, keys } })
      return prepared
    },
    commit: (prepared, block) => {
      assertFollows(store, block)
      const made = madeHere.get(prepared)
      if (made?.height !== last.height)
        throw new Error('commit: something else was committed since this block was prepared')
      const write = (): (() => void) => {
        if (chainId === undefined) writeMeta(connection, 'chain_id', block.chainId)
        return writeBlock({ connection, state, tree }, prepared, made.tree, block)
      }
      const keepTree = connection.db.transaction(write).immediate()
      const { height, timeMs, transactions } = block
      chainId = block.chainId
      remember({ height, timeMs, appHash: prepared.appHash, transactions }, prepared.changes, keepTree)
    },
    rollback: (agree) => {
      const undone = undoLastBlock(connection, state, { tables: declared, tree, agree })
      chainId = state.chainId()
      remember(undone.last, undone.changes, undone.keepTree)
    },
    replaceBy: (from) => {
      copyState(connection, from, declared)
      writes++
      last = state.last()
      chainId = state.chainId()
      forget()
      tree.forget()
    },
    reader: () => openSqliteReader({ path, tables }),
    putLocal: (table, row) => writeLocal(table, row, row),
    removeLocal: (table, key) => writeLocal(table, key, undefined),
    close,
  }
  return store
}
