import { createDerivedRows, type DerivedRows } from '../../src/store/derivedRows.ts'
import { createOverlay, type Change } from '../../src/store/overlay.ts'
import type { State, StateReader } from '../../src/store/state.ts'
import {
  assertFollows,
  assertLocal,
  assertTables,
  BEFORE_ALL,
  type BlockRecord,
  prepareBlock,
  type Store,
  unlessWritten,
} from '../../src/store/store.ts'
import type { Table } from '../../src/store/table.ts'
import type { Hash } from '../../src/store/tree/node.ts'
import type { Page, Path } from '../../src/store/tree/page.ts'
import { proveKey } from '../../src/store/tree/proof.ts'
import { rootOfTables, type TreeWrite, updateTreeByRows } from '../../src/store/tree/tree.ts'
import { assertRolledBack, changesBack, encodeUndo, noUndo } from '../../src/store/undo.ts'

function createReads(rows: State, derivedRows: DerivedRows, writes: () => number): StateReader {
  const withIndex = ({ name, indexes }: Table, index: string | undefined): State => {
    if (index !== undefined && indexes[index] === undefined) throw new Error(`table ${name} has no index ${index}`)
    return rows
  }
  return {
    get: <R>(table: Table, key: object) =>
      (table.derived === undefined ? rows.get(table, key) : derivedRows.get(table, key)) as R | undefined,
    find: (table, index, key) => withIndex(table, index).find(table, index, key),
    scan: (table, scan) => unlessWritten(withIndex(table, scan?.index).scan(table, scan), writes),
    count: (table, scan) => withIndex(table, scan?.index).count(table, scan),
    rank: (table, index, row) => withIndex(table, index).rank(table, index, row),
  }
}

function setOrDelete<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

/** Opens an empty store in memory. It follows the same rules as the one on disk. */
export function openMemoryStore({ tables }: { readonly tables: readonly Table[] }): Store {
  assertTables(tables)
  const rows: State = createOverlay()
  const derivedRows = createDerivedRows(rows)
  const pages = new Map<Path, Page>()
  const stateKeys = new Map<Hash, Uint8Array>()
  const blocks = new Map<number, BlockRecord>()
  let last = BEFORE_ALL
  let chainId: string | undefined
  let undo: { readonly height: number; readonly rows: Uint8Array } | undefined
  let writes = 0

  const readPage = (path: Path): Page | undefined => pages.get(path)

  const leafRow = (keyHash: Hash): { key: Uint8Array; value: Uint8Array } => {
    const key = stateKeys.get(keyHash) as Uint8Array
    const table = tables.find(({ tag }) => tag === key[0]) as Table
    return { key, value: table.encode(rows.get(table, table.parseKey(key) as object) as object) }
  }

  const write = (changes: readonly Change[], tree: TreeWrite): void => {
    writes++
    for (const { table, key, after } of changes) {
      if (table.derived !== undefined) continue
      if (after === undefined) rows.remove(table, table.parseKey(key) as object)
      else rows.put(table, after)
    }
    for (const [path, page] of tree.pages) setOrDelete(pages, path, page)
    for (const { keyHash, stateKey } of tree.keys) setOrDelete(stateKeys, keyHash, stateKey)
  }

  const store: Store = {
    ...createReads(rows, derivedRows, () => writes),
    height: () => last.height,
    appHash: () => last.appHash,
    timeMs: () => last.timeMs,
    chainId: () => chainId,
    block: (height) => blocks.get(height),
    prove: (table, key) => (table.hashed ? proveKey(readPage, table.keyOf(key), leafRow) : undefined),
    recomputeRoot: () => rootOfTables(rows, tables),
    prepare: (overlay) => prepareBlock(store, readPage, overlay),
    commit: (prepared, block) => {
      assertFollows(store, prepared, block)
      const { height, timeMs, transactions, blocksFrom = 0 } = block
      chainId = block.chainId
      const before = encodeUndo(prepared.changes)
      undo = before && { height, rows: before }
      write(prepared.changes, prepared.tree)
      derivedRows.keep(prepared.changes)
      last = { height, timeMs, appHash: prepared.appHash, transactions }
      blocks.set(height, last)
      for (const old of blocks.keys()) if (old < blocksFrom) blocks.delete(old)
    },
    rollback: (agree) => {
      if (undo?.height !== last.height) throw noUndo(last.height)
      const changes = changesBack(undo.rows, tables, rows)
      const tree = updateTreeByRows(readPage, changes)
      const before = [...blocks.values()].at(-2) ?? BEFORE_ALL
      assertRolledBack(tree.root, before)
      agree?.(before)
      write(changes, tree)
      derivedRows.clear()
      blocks.delete(last.height)
      ;[undo, last, chainId] = [undefined, before, before.height === 0 ? undefined : chainId]
    },
    putLocal: (table, row) => {
      assertLocal(table)
      writes++
      rows.put(table, row)
    },
    removeLocal: (table, key) => {
      assertLocal(table)
      writes++
      rows.remove(table, key)
    },
    close: () => undefined,
  }
  return store
}
