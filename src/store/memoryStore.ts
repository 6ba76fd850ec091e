import type { Hash } from './tree/node.ts'
import { type Change, makeOverlay } from './overlay.ts'
import type { Page, Path } from './tree/page.ts'
import { type KeyChange, rootOfTables, treeChangesOf, type TreeUpdate, updateTree } from './tree/tree.ts'
import type { State, StateReader } from './state.ts'
import {
  type AnyTable,
  assertFollows,
  assertLocal,
  assertTables,
  BEFORE_ALL,
  type BlockRecord,
  type PreparedBlock,
  type Store,
  unlessWritten,
} from './store.ts'
import type { Table } from './table.ts'
import { proveKey } from './tree/proof.ts'
import { assertBack, changesBack, encodeUndo, nothingKept } from './undo.ts'

interface TreeWrite {
  readonly update: TreeUpdate
  readonly keys: readonly KeyChange[]
}

const nothing: StateReader = { get: () => undefined, scan: () => [], count: () => 0, rank: () => 0 }

function assertIndex(table: object, index: string | undefined): void {
  const { name, indexes } = table as Table
  if (index !== undefined && indexes[index] === undefined) throw new Error(`table ${name} has no index ${index}`)
}

function put<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

const readsOf = (rows: State, writes: () => number): StateReader => ({
  get: (table, key) => rows.get(table, key),
  scan: (table, scan) => {
    assertIndex(table, scan?.index)
    return unlessWritten(rows.scan(table, scan), writes)
  },
  count: (table, scan) => {
    assertIndex(table, scan?.index)
    return rows.count(table, scan)
  },
  rank: (table, index, row) => {
    assertIndex(table, index)
    return rows.rank(table, index, row)
  },
})

/** The tree in pages, and the keys beside it. */
function makeTree() {
  const pages = new Map<Path, Page>()
  const stateKeys = new Map<Hash, Uint8Array>()
  return {
    readPage: (path: Path) => pages.get(path),
    keyAt: (keyHash: Hash) => stateKeys.get(keyHash) as Uint8Array,
    after: (changes: readonly Change[]): TreeWrite => {
      const { leaves, keys } = treeChangesOf(changes)
      return { update: updateTree((path) => pages.get(path), leaves), keys }
    },
    write: ({ update, keys }: TreeWrite): void => {
      for (const [path, page] of update.pages) put(pages, path, page)
      for (const { keyHash, stateKey } of keys) put(stateKeys, keyHash, stateKey)
    },
  }
}

/** An empty store in memory, for tests and simulations: the same rules as on disk, gone with the process. */
export function openMemoryStore({ tables }: { readonly tables: readonly AnyTable[] }): Store {
  assertTables(tables)
  const declared = tables as readonly unknown[] as readonly Table[]
  const rows: State = makeOverlay(nothing)
  const tree = makeTree()
  const blocks = new Map<number, BlockRecord>()
  const madeHere = new WeakMap<PreparedBlock, TreeWrite & { readonly height: number }>()
  let last = BEFORE_ALL
  let chainId: string | undefined
  let undo: { readonly height: number; readonly rows: Uint8Array } | undefined
  let writes = 0

  const leafRow = (keyHash: Hash): { key: Uint8Array; value: Uint8Array } => {
    const key = tree.keyAt(keyHash)
    const table = declared.find(({ tag }) => tag === key[0]) as Table
    return { key, value: table.encode(rows.get(table, table.parseKey(key) as object) as object) }
  }

  const writeLocal = (table: { readonly name: string; readonly hashed: boolean }, write: () => void): void => {
    assertLocal(table)
    writes++
    write()
  }

  const writeRows = (changes: readonly Change[]): void => {
    writes++
    for (const { table, key, after } of changes) {
      if (after === undefined) rows.remove(table, table.parseKey(key) as object)
      else rows.put(table, after)
    }
  }

  const store: Store = {
    ...readsOf(rows, () => writes),
    height: () => last.height,
    appHash: () => last.appHash,
    timeMs: () => last.timeMs,
    chainId: () => chainId,
    block: (height) => blocks.get(height),
    prove: (table, key) => (table.hashed ? proveKey(tree.readPage, table.keyOf(key), leafRow) : undefined),
    recomputeRoot: () => rootOfTables(rows, declared),
    prepare: (overlay) => {
      const changes = overlay.changes(store)
      const made = tree.after(changes)
      const prepared = { appHash: made.update.root, changes }
      madeHere.set(prepared, { height: last.height, ...made })
      return prepared
    },
    commit: (prepared, block) => {
      assertFollows(store, block)
      const made = madeHere.get(prepared)
      if (made?.height !== last.height)
        throw new Error('commit: something else was committed since this block was prepared')
      const { height, timeMs, transactions, blocksFrom = 0 } = block
      chainId = block.chainId
      undo = { height, rows: encodeUndo(prepared.changes) }
      writeRows(prepared.changes)
      tree.write(made)
      last = { height, timeMs, appHash: prepared.appHash, transactions }
      blocks.set(height, last)
      for (const old of blocks.keys()) if (old < blocksFrom) blocks.delete(old)
    },
    rollback: (agree) => {
      if (undo?.height !== last.height) throw nothingKept(last.height)
      const changes = changesBack(undo.rows, declared, rows)
      const made = tree.after(changes)
      const before = [...blocks.values()].at(-2) ?? BEFORE_ALL
      assertBack(made.update.root, before)
      agree?.(before)
      writeRows(changes)
      tree.write(made)
      blocks.delete(last.height)
      ;[undo, last, chainId] = [undefined, before, before.height === 0 ? undefined : chainId]
    },
    reader: () => ({ read: (fn) => fn(store), close: () => undefined }),
    putLocal: (table, row) => writeLocal(table, () => rows.put(table, row)),
    removeLocal: (table, key) => writeLocal(table, () => rows.remove(table, key)),
    close: () => undefined,
  }
  return store
}
