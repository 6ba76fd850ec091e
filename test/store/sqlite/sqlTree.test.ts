import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { openMemoryStore } from '../../support/memoryStore.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { BLOCKS_WAITING_MAX } from '../../../src/store/sqlite/sqlTree.ts'
import { openSqliteReader } from '../../../src/store/sqlite/sqliteReader.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import type { State } from '../../../src/store/state.ts'
import type { Store } from '../../../src/store/store.ts'
import { makeModel, random, step } from '../model.ts'
import { absences, notes, tables } from '../tables.ts'
import { tempFolder } from '../../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('sqltree')
afterAll(remove)

const rowsOf = (path: string, sql: string): unknown => {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare(sql).pluck().get()
  } finally {
    db.close()
  }
}
const waitingIn = (path: string): unknown => rowsOf(path, 'SELECT count(*) FROM tree_changes')

/** Commits block `height` with the same random writes to each store. */
function commitRandom(stores: readonly Store[], height: number, writes: number): void {
  for (const store of stores) {
    const [next, overlay, model] = [random(height), createOverlay(store), makeModel()]
    for (let left = writes; left > 0; left--) step(next, overlay, model)
    store.commit(store.prepare(overlay), { height, timeMs: height, chainId: 'test', transactions: 0 })
  }
}

test('pages wait for up to 31 blocks: root and proofs are those of memory, through restarts and rollbacks', () => {
  const path = join(folder, 'waits.db')
  const memory = openMemoryStore({ tables })
  let store = openSqliteStore({ path, tables, pagesCached: 4 })
  const seen = new Set<unknown>()
  for (let height = 1; height <= 120; height++) {
    commitRandom([memory, store], height, 1 + (height % 40))
    expect(store.appHash()).toEqual(memory.appHash())
    seen.add(waitingIn(path))
    if (height % 37 === 0) {
      for (const one of [memory, store]) one.rollback()
      expect(waitingIn(path)).toBe(0)
      commitRandom([memory, store], height, 30)
    }
    if (height % 7 === 0) {
      store.close()
      store = openSqliteStore({ path, tables, pagesCached: 4 })
    }
    const reader = openSqliteReader({ path, tables })
    for (let candidacyId = 0; candidacyId < 12; candidacyId++) {
      const proof = memory.prove(absences, { candidacyId })
      expect(store.prove(absences, { candidacyId })).toEqual(proof)
      if (height % 5 === 0) expect(reader.read((state) => state.prove(absences, { candidacyId }))).toEqual(proof)
    }
    reader.close()
  }
  expect(Math.max(...(seen as Set<number>))).toBe(31)
  expect(seen.has(0)).toBe(true)
  store.close()
})

test('pages wait for up to 65,536 leaves', () => {
  const path = join(folder, 'leaves.db')
  const store = openSqliteStore({ path, tables })
  const waiting: unknown[] = []
  for (let height = 1; height <= 3; height++) {
    const overlay = createOverlay(store)
    for (let at = 0; at < 32_768; at++) overlay.put(absences, { candidacyId: height * 32_768 + at, count: 1 })
    store.commit(store.prepare(overlay), { height, timeMs: height, chainId: 'test', transactions: 0 })
    waiting.push(waitingIn(path))
  }
  expect(waiting).toEqual([1, 2, 0])
  store.close()
})

test('pages of rows that are gone are removed: those that are left are those of a tree built at once', () => {
  const pagesAfter = (name: string, blocks: readonly ((state: State) => void)[]): unknown => {
    const path = join(folder, name)
    const store = openSqliteStore({ path, tables })
    for (const [at, write] of blocks.entries()) {
      const overlay = createOverlay(store)
      write(overlay)
      store.commit(store.prepare(overlay), { height: at + 1, timeMs: at + 1, chainId: 'test', transactions: 0 })
    }
    expect(waitingIn(path)).toBe(0)
    store.close()
    return rowsOf(path, "SELECT count(*) || group_concat(hex(path) || hex(page), ' ' ORDER BY path) FROM tree_pages")
  }
  const put = (from: number, to: number) => (state: State) => {
    for (let candidacyId = from; candidacyId < to; candidacyId++) state.put(absences, { candidacyId, count: 1 })
  }
  const remove = (state: State): void => {
    for (let candidacyId = 5; candidacyId < 2000; candidacyId++) state.remove(absences, { candidacyId })
  }
  const untilWritten = Array.from({ length: BLOCKS_WAITING_MAX - 1 }, () => (): void => undefined)
  const left = pagesAfter('left.db', [put(0, 2000), ...untilWritten, remove, ...untilWritten])
  expect(left).toEqual(pagesAfter('fresh.db', [put(0, 5), ...untilWritten]))
})

test('a row that is the node’s own has no proof', () => {
  const path = join(folder, 'local.db')
  const store = openSqliteStore({ path, tables })
  commitRandom([store], 1, 20)
  store.putLocal(notes, { id: 1, verified: true, name: 'own' })
  const reader = openSqliteReader({ path, tables })
  expect([store.prove(notes, { id: 1 }), reader.read((state) => state.prove(notes, { id: 1 }))]).toEqual([
    undefined,
    undefined,
  ])
  reader.close()
  store.close()
})

test('one reader proves in every state it comes to see: while pages wait, after they were written, a rollback, and another state', () => {
  const path = join(folder, 'reads.db')
  const memory = openMemoryStore({ tables })
  const store = openSqliteStore({ path, tables })
  const reader = openSqliteReader({ path, tables })
  const compare = (): void => {
    for (let candidacyId = 0; candidacyId < 12; candidacyId++) {
      expect(reader.read((state) => state.prove(absences, { candidacyId }))).toEqual(
        memory.prove(absences, { candidacyId }),
      )
    }
  }
  compare()
  for (let height = 1; height <= 100; height++) {
    commitRandom([memory, store], height, 1 + (height % 40))
    // Not after each: blocks come between two proofs, and pages are written back between them.
    if (height % 3 === 0 || height % 32 <= 1) compare()
    if (height % 33 !== 0) continue
    for (const one of [memory, store]) one.rollback()
    if (height % 2 === 0) compare()
    commitRandom([memory, store], height, 30 + height)
    compare()
  }
  const from = join(folder, 'reads-from.db')
  const other = openSqliteStore({ path: from, tables })
  for (let height = 1; height <= 3; height++) commitRandom([other], height, 200)
  other.close()
  // As a restored snapshot has it: nothing waits.
  const opened = openSqliteStore({ path: from, tables })
  opened.rollback()
  opened.close()
  store.replaceBy(from)
  const memory2 = openMemoryStore({ tables })
  for (let height = 1; height <= 2; height++) commitRandom([memory2], height, 200)
  for (let height = 3; height <= 40; height++) {
    for (let candidacyId = 0; candidacyId < 12; candidacyId++) {
      expect(reader.read((state) => state.prove(absences, { candidacyId }))).toEqual(
        memory2.prove(absences, { candidacyId }),
      )
    }
    commitRandom([memory2, store], height, 20)
  }
  reader.close()
  store.close()
})

test('a reader whose pages do not lead to the app hash says so, and names the file', () => {
  const path = join(folder, 'reads-changed.db')
  const store = openSqliteStore({ path, tables })
  commitRandom([store], 1, 40)
  const reader = openSqliteReader({ path, tables })
  const prove = (): unknown => reader.read((state) => state.prove(absences, { candidacyId: 1 }))
  prove()
  const db = new Database(path)
  db.prepare('UPDATE blocks SET app_hash = ?').run('AB'.repeat(32))
  db.close()
  expect(prove).toThrow(
    /reads-changed\.db: the tree of block 1 has the root [0-9A-F]{64}, not the committed app hash (AB){32}/,
  )
  reader.close()
  store.close()
})

test('at most 65,536 leaves wait, which a start works in', () => {
  const path = join(folder, 'many.db')
  let store = openSqliteStore({ path, tables })
  const waited = [1, 2, 3].map((height) => {
    store.close()
    store = openSqliteStore({ path, tables })
    const overlay = createOverlay(store)
    for (let candidacyId = 0; candidacyId < 30_000; candidacyId++) overlay.put(absences, { candidacyId, count: height })
    store.commit(store.prepare(overlay), { height, timeMs: height, chainId: 'test', transactions: 0 })
    return waitingIn(path)
  })
  store.close()
  expect(waited).toEqual([1, 2, 0])
})

/** A state whose tree waits in three blocks. */
function madeWaiting(name: string): string {
  const path = join(folder, name)
  const store = openSqliteStore({ path, tables })
  for (let height = 1; height <= 3; height++) commitRandom([store], height, 40)
  store.close()
  return path
}

test('what waits and does not lead to the committed app hash is refused in one line that names the file, and the lock is free', () => {
  const path = madeWaiting('changed.db')
  const db = new Database(path)
  const leaves = db.prepare('SELECT leaves FROM tree_changes WHERE height = 2').pluck().get() as Buffer
  leaves[40] = (leaves[40] as number) ^ 1
  db.prepare('UPDATE tree_changes SET leaves = ? WHERE height = 2').run(leaves)
  db.close()
  for (let time = 0; time < 2; time++) {
    const line = /^\S+changed\.db: the tree of block 3 has the root [0-9A-F]{64}, not the committed app hash .*anew$/
    expect(() => openSqliteStore({ path, tables })).toThrow(line)
  }
})

test('a tree without its pages is refused at the start, not taken for an empty one', () => {
  const path = join(folder, 'emptied.db')
  const store = openSqliteStore({ path, tables })
  for (let height = 1; height <= 32; height++) commitRandom([store], height, 5)
  store.close()
  expect(waitingIn(path)).toBe(0)
  const db = new Database(path)
  db.exec('DELETE FROM tree_pages')
  db.close()
  const line = /^\S+emptied\.db: the tree of block 32 has the root 0{64}, not the committed app hash .*anew$/
  expect(() => openSqliteStore({ path, tables })).toThrow(line)
})
