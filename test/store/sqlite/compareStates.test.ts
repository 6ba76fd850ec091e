import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { tables } from '../tables.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { examplesRunBy } from '../../docs/examples.ts'
import { sqliteShell } from '../../support/sqliteShell.ts'
import { tempFolder } from '../../support/tempFolder.ts'

const folder = tempFolder('compare')
afterAll(() => folder.remove())

const path = (name: string): string => join(folder.path, name, 'state.db')

/** Commits empty blocks up to `height`. */
function makeBlocks(name: string, height: number): void {
  const store = openSqliteStore({ path: path(name), tables, pagesCached: 8 })
  while (store.height() < height) {
    const block = { height: store.height() + 1, timeMs: 1, chainId: 'test', transactions: 0 }
    store.commit(store.prepare(createOverlay(store)), block)
  }
  store.close()
}

test("the page's comparison of two states prints nothing while their blocks agree, and fails when they differ", () => {
  const [{ code }] = examplesRunBy('test/store/sqlite/compareStates.test.ts')
  for (const name of ['old', 'data']) mkdirSync(join(folder.path, name))
  makeBlocks('old', 3)
  copyFileSync(path('old'), path('data'))
  const script = `${sqliteShell(folder.path)}\n${code}`
  const env = { ...process.env, NODE_OPTIONS: '' }
  const compare = (): string => execFileSync('sh', ['-ec', script], { cwd: folder.path, env, encoding: 'utf8' })
  expect(compare()).toBe('')
  expect(readFileSync(join(folder.path, 'new.txt'), 'utf8').trim().split('\n')).toHaveLength(3)
  makeBlocks('data', 4)
  expect(compare).toThrow('Command failed')
})
