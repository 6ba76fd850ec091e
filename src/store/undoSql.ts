import type { Connection } from './connection.ts'
import type { Change } from './overlay.ts'
import type { SqlState } from './sqlState.ts'
import type { SqlTree } from './sqlTree.ts'
import type { BlockRecord, Store } from './store.ts'
import type { Table } from './table.ts'
import { updateTree } from './tree.ts'
import { treeChangesOf } from './treeChanges.ts'
import { assertBack, changesBack, encodeUndo, nothingKept } from './undo.ts'

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
