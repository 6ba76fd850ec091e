import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { openConnection } from '../../../src/base/sqlite.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { random } from '../model.ts'
import { runAndKill } from '../../support/runAndKill.ts'
import { tables } from '../tables.ts'
import { tempFolder } from '../../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('crash')
afterAll(() => {
  remove()
})
const child = join(import.meta.dirname, 'crashChild.ts')

/** The last height in whole lines of it. */
const lastOf = (said: string): number => Number(said.slice(0, said.lastIndexOf('\n')).split('\n').pop())

test('killed at any moment, 30 times, the state is that of a whole block, and no block that was told is lost', async () => {
  const path = join(folder, 'state.db')
  const next = random(11)
  let before = 0
  for (let run = 0; run < 30; run++) {
    const told = lastOf(await runAndKill([child, path, String(run)], 1 + next(4), next(25)))
    const store = openSqliteStore({ path, tables, expectChainId: 'test' })
    expect(store.height()).toBeGreaterThanOrEqual(told)
    expect(store.height()).toBeLessThanOrEqual(told + 1)
    expect(told).toBeGreaterThan(before)
    expect(store.appHash()).toEqual(store.recomputeRoot())
    expect(store.block(store.height())).toEqual({
      height: store.height(),
      timeMs: store.timeMs(),
      appHash: store.appHash(),
      transactions: store.height(),
    })
    for (const table of tables)
      for (const index of Object.keys(table.indexes)) {
        const rows = [...store.scan(table as never)] as object[]
        const indexed = rows.filter(
          (row) => (table.indexes as Record<string, (row: never) => unknown>)[index]?.(row as never) !== undefined,
        )
        expect(store.count(table as never, { index } as never)).toBe(indexed.length)
      }
    before = store.height()
    store.close()
  }
  const connection = openConnection(path, { readonly: false })
  expect(connection.db.pragma('synchronous', { simple: true })).toBe(2n)
  connection.close()
})
