import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { createOverlay } from '../../../src/store/overlay.ts'
import type { State } from '../../../src/store/state.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { encodeUndo, UNDO_BYTES_MAX } from '../../../src/store/undo.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { commitWith } from '../snapshot/support.ts'
import { params, tables } from '../tables.ts'

const { path: folder, remove } = tempFolder('undo')
afterAll(remove)

const VALUE_LENGTH = 1000

/** Changes four rows, to values of VALUE_LENGTH letters. */
function change(state: State, letter: string): void {
  for (let height = 0; height < 4; height++)
    state.put(params, { name: 'p', height, value: letter.repeat(VALUE_LENGTH) })
}

test('a block that changes more than may be kept is committed all the same, and cannot be rolled back', () => {
  const options = { path: join(folder, 'large.db'), tables, undoBytesMax: 4 * VALUE_LENGTH }
  const store = openSqliteStore(options)
  commitWith(store, (state) => change(state, 'a'))
  commitWith(store, (state) => change(state, 'b'))
  store.close()
  const again = openSqliteStore(options)
  expect([again.height(), again.appHash()]).toEqual([2, again.recomputeRoot()])
  expect(() => again.rollback()).toThrow(expect.objectContaining({ name: 'StoreError', code: 'noUndo' }))
  const root = again.appHash()
  commitWith(again, (state) => state.remove(params, { name: 'p', height: 0 }))
  again.rollback()
  expect([again.height(), again.appHash(), again.recomputeRoot()]).toEqual([2, root, root])
  again.close()
})

test('what a block changed is kept up to the limit, which SQLite can hold', () => {
  const store = openSqliteStore({ path: join(folder, 'limit.db'), tables })
  commitWith(store, (state) => change(state, 'a'))
  const overlay = createOverlay(store)
  change(overlay, 'b')
  const { changes } = store.prepare(overlay)
  const undo = encodeUndo(changes)
  const length = undo?.length ?? 0
  expect(length).toBeGreaterThan(4 * VALUE_LENGTH)
  expect([encodeUndo(changes, length), encodeUndo(changes, length - 1)]).toEqual([undo, undefined])
  expect(UNDO_BYTES_MAX).toBe(268_435_456)
  store.close()
})
