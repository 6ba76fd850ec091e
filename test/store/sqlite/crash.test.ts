import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { openConnection } from '../../../src/base/sqlite.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { random } from '../model.ts'
import { tables } from '../tables.ts'
import { tempFolder } from '../../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('crash')
afterAll(() => {
  remove()
})
const child = join(import.meta.dirname, 'crashChild.ts')

/** Runs the child until it told `blocks` heights and `delayMs` more, kills it, and gives the last height it told. */
function runAndKill(path: string, seed: number, blocks: number, delayMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [child, path, String(seed)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let told = ''
    let errors = ''
    let isKilling = false
    running.stderr.on('data', (data: Buffer) => {
      errors += data.toString()
    })
    running.stdout.on('data', (data: Buffer) => {
      told += data.toString()
      if (isKilling || told.split('\n').length <= blocks) return
      isKilling = true
      setTimeout(() => {
        running.kill('SIGKILL')
      }, delayMs)
    })
    running.on('close', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the child ended by itself: ${errors}`))
      else resolve(Number(told.slice(0, told.lastIndexOf('\n')).split('\n').pop()))
    })
  })
}

test('killed at any moment, 30 times, the state is that of a whole block, and no block that was told is lost', async () => {
  const path = join(folder, 'state.db')
  const next = random(11)
  let before = 0
  for (let run = 0; run < 30; run++) {
    const told = await runAndKill(path, run, 1 + next(4), next(25))
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
