import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { openSnapshotMaker } from '../../../src/store/snapshot/maker.ts'
import { snapshotPath } from '../../../src/store/snapshot/folder.ts'
import type { StoreLogger } from '../../../src/store/snapshot/stateSync.ts'
import { writeSnapshot } from '../../../src/store/snapshot/write.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { tables } from '../tables.ts'
import { commitRandom, filesOf } from './support.ts'

const folder = tempFolder('maker')
afterAll(folder.remove)
let names = 0
const newPath = (): string => join(folder.path, String(names++))

/** A store of `height` blocks, and a maker beside it that makes snapshots of many chunks. */
function openBoth(height: number, every: number, logger?: StoreLogger) {
  const path = newPath()
  const store = openSqliteStore({ path, tables })
  commitRandom(store, 7, height)
  const snapshots = newPath()
  const maker = openSnapshotMaker({
    path,
    tables,
    folder: snapshots,
    every,
    chunkBytes: 100,
    ...(logger && { logger }),
  })
  return { store, snapshots, maker, path }
}

test('one chunk a turn, while blocks go on: the snapshot is that of the block that was due', async () => {
  const { store, snapshots, maker } = openBoth(6, 3)
  const expected = newPath()
  writeSnapshot(store, tables, expected, 100)
  maker.committed()
  expect(existsSync(snapshotPath(snapshots, 6))).toBe(false)
  let turns = 0
  for (; !existsSync(snapshotPath(snapshots, 6)); turns++) {
    // The state under the snapshot changes: the one that is read stays as it was.
    if (turns < 3) {
      commitRandom(store, 8 + turns, 1)
      maker.committed()
    }
    await turn()
  }
  expect(filesOf(snapshotPath(snapshots, 6))).toEqual(filesOf(snapshotPath(expected, 6)))
  expect(turns).toBeGreaterThan(Object.keys(filesOf(snapshotPath(expected, 6))).length - 3)
  // Block 9 came meanwhile, and has none.
  expect(store.height()).toBe(9)
  expect(readdirSync(snapshots)).toEqual(['6-1'])
  maker.close()
  store.close()
})

test('one that is given up leaves nothing that is listed, and its state is not held', async () => {
  const { store, snapshots, maker } = openBoth(3, 3)
  maker.committed()
  await turn()
  maker.close()
  for (let at = 0; at < 50; at++) await turn()
  expect(existsSync(snapshotPath(snapshots, 3))).toBe(false)
  commitRandom(store, 9, 1)
  store.close()
})

test('a state that cannot be read is a snapshot that is missing, and the next one is made', async () => {
  const logged: unknown[] = []
  const log = (_fields: object, line: string): void => void logged.push(line)
  const { store, snapshots, maker, path } = openBoth(3, 3, { info: log, error: log })
  const db = new Database(path)
  db.exec('ALTER TABLE blocks RENAME TO away')
  maker.committed()
  db.exec('ALTER TABLE away RENAME TO blocks')
  db.close()
  maker.committed()
  while (!existsSync(snapshotPath(snapshots, 3))) await turn()
  await turn()
  expect(logged).toEqual(['a snapshot could not be made', 'a snapshot was made'])
  maker.close()
  store.close()
})

test('a number of blocks that is none is refused', () => {
  const { store, maker } = openBoth(1, 1)
  maker.close()
  for (const every of [0, -1, 1.5, Number.NaN])
    expect(() => openSnapshotMaker({ path: newPath(), tables, folder: newPath(), every })).toThrow(
      new RangeError(`every: expected 1 or more, got ${every}`),
    )
  store.close()
})
