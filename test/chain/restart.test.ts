import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import type { CompleteApplication, FinalizeBlockResponse } from '../../src/abci/types.ts'
import { tables } from '../../src/modules/registry.ts'
import { openSqliteReader } from '../../src/store/sqlite/sqliteReader.ts'
import { appOn, heightOf, legacyCalls, onDisk, random, script } from './support.ts'
import { runAndKill } from '../support/runAndKill.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('chain')
afterAll(() => {
  remove()
})

/**
 * The calls of each block in one dialect; the answer of the last but one holds the app hash where the dialect has it
 * there.
 */
function callsOf(app: CompleteApplication, at: number, isLegacy: boolean): readonly (() => unknown)[] {
  const block = script().blocks[at]
  if (block === undefined) throw new Error(`the script has no block ${at + 1}`)
  return isLegacy
    ? [...legacyCalls(app, block), () => app.commit({})]
    : [() => app.finalizeBlock(block), () => app.commit({})]
}

test.each([
  ['0.38', false],
  ['0.37', true],
])(
  'Req 11: stopped between any two calls of the %s dialect and opened again, the replay leads to the same hashes',
  (dialect, isLegacy) => {
    const { init, hashes } = script()
    const path = join(folder, `stops-${dialect}.db`)
    const blocks = 14
    let store = onDisk(path)
    let app = appOn(store)
    const reopen = (height: number): void => {
      store.close()
      store = onDisk(path)
      app = appOn(store)
      expect(heightOf(app)).toBe(height)
      if (height === 0) app.initChain(init)
      else expect(store.appHash()).toEqual(hashes[height - 1])
    }
    reopen(0)
    for (let at = 0; at < blocks; at++) {
      const { length } = callsOf(app, at, isLegacy)
      for (let stop = 0; stop < length - 1; stop++) {
        for (const call of callsOf(app, at, isLegacy).slice(0, stop + 1)) call()
        reopen(at)
      }
      for (const call of callsOf(app, at, isLegacy)) call()
      expect(store.appHash()).toEqual(hashes[at])
      reopen(at + 1)
    }
    expect(store.recomputeRoot()).toEqual(hashes[blocks - 1])
    store.close()
  },
)

test('one process killed by SIGKILL again and again stands at a whole block each time, and ends at the same hash', async () => {
  const { hashes } = script()
  const path = join(folder, 'killed.db')
  const next = random(Number(process.env['SEED'] ?? 5))
  const child = join(import.meta.dirname, 'restartChild.ts')
  let height = 0
  for (let run = 0; run < 30 && height < hashes.length; run++) {
    const told = (await runAndKill([child, path], 1 + next(8), next(12), true)).split('\n').length - 1
    const store = onDisk(path)
    expect(store.height()).toBeGreaterThanOrEqual(height + told)
    expect(store.height()).toBeLessThanOrEqual(height + told + 1)
    height = store.height()
    expect([store.appHash(), store.recomputeRoot()]).toEqual([hashes[height - 1], hashes[height - 1]])
    store.close()
  }
  expect(height).toBe(hashes.length)
})

test('a reader on its own connection sees the last committed block while the next one runs', () => {
  const { init, blocks, hashes } = script()
  const path = join(folder, 'reader.db')
  const store = onDisk(path)
  const app = appOn(store)
  const reader = openSqliteReader({ path, tables })
  app.initChain(init)
  for (const [at, block] of blocks.slice(0, 6).entries()) {
    expect((app.finalizeBlock(block) as FinalizeBlockResponse).appHash).toEqual(hashes[at])
    if (at > 0)
      expect(reader.read((state) => [state.height(), state.appHash(), state.recomputeRoot()])).toEqual([
        at,
        hashes[at - 1],
        hashes[at - 1],
      ])
    app.commit({})
  }
  reader.close()
  store.close()
})
