import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { openSqliteReader } from '../../../src/store/sqlite/sqliteReader.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { examplesRunBy } from '../../docs/examples.ts'
import { sqliteShell } from '../../support/sqliteShell.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { tables } from '../tables.ts'

const folder = tempFolder('copy')
afterAll(() => folder.remove())

test("the page's copy of a state that is being written is one whole block, and a state like any other", async () => {
  const [{ code }] = examplesRunBy('test/store/sqlite/copyState.test.ts')
  const data = join(folder.path, '.svcd', 'data')
  mkdirSync(data, { recursive: true })
  const writer = spawn(process.execPath, [join(import.meta.dirname, 'crashChild.ts'), join(data, 'state.db'), '1'])
  const ended = once(writer, 'close')
  let told = 0
  writer.stdout.on('data', (lines: Buffer) => {
    told = Number(lines.toString().trim().split('\n').pop())
  })
  await once(writer.stdout, 'data')
  const from = told
  const env = { ...process.env, HOME: folder.path, NODE_OPTIONS: '' }
  execFileSync('sh', ['-ec', `${sqliteShell(folder.path)}\n${code}`], { cwd: folder.path, env })
  writer.kill('SIGKILL')
  await ended
  const copy = join(folder.path, 'copy.db')
  const reader = openSqliteReader({ path: copy, tables })
  const height = reader.read((state) => {
    expect(state.appHash()).toEqual(state.recomputeRoot())
    expect(state.block(state.height())?.appHash).toEqual(state.appHash())
    return state.height()
  })
  reader.close()
  expect(height).toBeGreaterThanOrEqual(from)
  const store = openSqliteStore({ path: copy, tables, expectChainId: 'test' })
  expect([store.height(), store.recomputeRoot()]).toEqual([height, store.appHash()])
  store.close()
})
