import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { createOverlay } from '../../../src/store/overlay.ts'
import { costOf, createRowCache } from '../../../src/store/sqlite/rowCache.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { accounts, addressAt, absences, params, tables } from '../tables.ts'

const { path: folder, remove } = tempFolder('rowCache')
afterAll(() => {
  remove()
})

const absence = (candidacyId: number, count = 1) => ({ candidacyId, count })
const absenceCost = costOf(absences)(1, absence(1))

test('a row costs 128 bytes, 72 a column and 2 a character of its key and its texts; that there is none costs its key', () => {
  expect(absenceCost).toBe(128 + 2 * 72)
  const row = { address: addressAt(1), balance: 5n, nonce: 0 }
  expect(costOf(accounts)(row.address, row)).toBe(128 + 3 * 72 + 2 * 2 * 42)
  expect(costOf(accounts)(row.address, null)).toBe(128 + 2 * 42)
  expect(costOf(absences)(1, null)).toBe(128)
})

test('two generations of rows are kept, and of those the ones used last; a row that is not there is known too', () => {
  const cache = createRowCache(tables, 2 * 4 * absenceCost)
  const known = (...ids: readonly number[]) => ids.map((id) => cache.get(absences, id) !== undefined)
  for (let id = 1; id <= 8; id++) cache.set(absences, id, absence(id))
  expect(cache.get(absences, 1)).toEqual(absence(1)) // The recent generation is full: this begins a third one.
  cache.set(absences, 9, absence(9))
  cache.set(absences, 10, null)
  expect(known(2, 3, 4, 11)).toEqual([false, false, false, false])
  expect(known(1, 9, 10, 5)).toEqual([true, true, true, true])
  expect(cache.get(absences, 10)).toBeNull()
  cache.clear()
  expect(known(1, 9, 10, 5)).toEqual([false, false, false, false])
})

test('a row that is written again and again takes the place of one', () => {
  const cache = createRowCache(tables, 2 * 4 * absenceCost)
  for (const id of [1, 2, 3]) cache.set(absences, id, absence(id))
  for (let count = 2; count < 100; count++) cache.set(absences, 4, absence(4, count))
  expect([1, 2, 3, 4].map((id) => cache.get(absences, id))).toEqual(
    [1, 2, 3].map((id) => absence(id)).concat(absence(4, 99)),
  )
})

test('an older row does not come back after it was written', () => {
  const cache = createRowCache(tables, 2 * 2 * absenceCost)
  for (const id of [1, 2, 3]) cache.set(absences, id, absence(id))
  cache.set(absences, 1, absence(1, 7))
  expect(cache.get(absences, 1)).toEqual(absence(1, 7))
  cache.set(absences, 4, absence(4))
  expect(cache.get(absences, 1)).toEqual(absence(1, 7))
})

test('a store keeps no more rows of 14 kB than its memory for rows holds, however many a scan reads', () => {
  const path = join(folder, 'state.db')
  const rowOf = (height: number) => ({ name: 'text', height, value: 'x'.repeat(14_000) })
  const rowBytes = costOf(params)(params.mapKey(rowOf(1)), rowOf(1))
  const made = openSqliteStore({ path, tables })
  const overlay = createOverlay(made)
  for (let height = 0; height < 100; height++) overlay.put(params, rowOf(height))
  made.commit(made.prepare(overlay), { height: 1, timeMs: 1, chainId: 'test', transactions: 0 })
  made.close()
  const store = openSqliteStore({ path, tables, rowCacheBytesMax: 20 * rowBytes })
  const rows = [...store.scan(params)]
  // The newest first. A row that was forgotten is another object when it is read again.
  const kept = rows.reverse().filter((row) => store.get(params, row) === row).length
  expect(rowBytes).toBeGreaterThan(28_000)
  expect(kept).toBeGreaterThanOrEqual(10)
  expect(kept).toBeLessThanOrEqual(20)
  store.close()
})
