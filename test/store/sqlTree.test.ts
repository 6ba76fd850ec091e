import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { openMemoryStore } from '../../src/store/memoryStore.ts'
import { makeOverlay } from '../../src/store/overlay.ts'
import { openSqliteStore } from '../../src/store/sqliteStore.ts'
import type { Store } from '../../src/store/store.ts'
import { makeModel, random, step } from './model.ts'
import { absences, tables } from './tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'svcd-sqltree-'))
afterAll(() => rmSync(folder, { recursive: true }))

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
    const [next, overlay, model] = [random(height), makeOverlay(store), makeModel()]
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
    commitRandom([memory, store], height, 1 + height % 40)
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
    const reader = store.reader()
    for (let candidacyId = 0; candidacyId < 12; candidacyId++) {
      const proof = memory.prove(absences, { candidacyId })
      expect(store.prove(absences, { candidacyId })).toEqual(proof)
      if (height % 5 === 0) expect(reader.read((state) => state.prove(absences, { candidacyId }))).toEqual(proof)
    }
    reader.close()
  }
  expect(Math.max(...seen as Set<number>)).toBe(31)
  expect(seen.has(0)).toBe(true)
  store.close()
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

test('a file of schema version 1, which has all its pages, is brought up to date', () => {
  const path = madeWaiting('older.db')
  const store = openSqliteStore({ path, tables })
  for (let height = 4; height <= 32; height++) commitRandom([store], height, 5)
  const appHash = store.appHash()
  store.close()
  expect(waitingIn(path)).toBe(0)
  const db = new Database(path)
  db.exec("DROP TABLE tree_changes; UPDATE meta SET value = '1' WHERE name = 'schema_version'")
  db.close()
  const again = openSqliteStore({ path, tables })
  expect([again.appHash(), again.recomputeRoot()]).toEqual([appHash, appHash])
  commitRandom([again], 33, 20)
  expect(again.recomputeRoot()).toEqual(again.appHash())
  again.close()
  expect([waitingIn(path), rowsOf(path, "SELECT value FROM meta WHERE name = 'schema_version'")]).toEqual([1, '2'])
})
