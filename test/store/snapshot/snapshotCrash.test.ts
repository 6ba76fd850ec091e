import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { toHex } from '../../../src/base/bytes.ts'
import { openMemoryStore } from '../../support/memoryStore.ts'
import { chunkFile, listSnapshots, snapshotPath, tidySnapshots } from '../../../src/store/snapshot/folder.ts'
import { removeRestore } from '../../../src/store/sqlite/restore.ts'
import { writeSnapshot } from '../../../src/store/snapshot/write.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { random } from '../model.ts'
import { runAndKill } from '../../support/runAndKill.ts'
import { commitRandom, filesOf } from './support.ts'
import { notes, tables } from '../tables.ts'

const folder = tempFolder('snapshot-crash')
afterAll(folder.remove)

const child = join(import.meta.dirname, 'snapshotChild.ts')

test('killed while a snapshot is restored or made, the state is a whole one, and every snapshot that is listed is whole', async () => {
  const [state, from, to] = [join(folder.path, 'state.db'), join(folder.path, 'from'), join(folder.path, 'to')]
  const source = openMemoryStore({ tables })
  const hashes = new Map<number, string>()
  const whole = new Map<number, unknown>()
  for (let at = 0; at < 2; at++) {
    commitRandom(source, at, 3, 600)
    hashes.set(source.height(), toHex(source.appHash()))
    writeSnapshot(source, tables, from, 500)
    whole.set(source.height(), filesOf(snapshotPath(from, source.height())))
  }
  const store = openSqliteStore({ path: state, tables })
  commitRandom(store, 50, 1)
  store.putLocal(notes, { id: 1, verified: true, name: 'own' })
  store.close()
  const next = random(Number(process.env['SEED'] ?? 3))
  for (let round = 0; round < 12; round++) {
    await runAndKill([child, state, from, to], 1 + next(3), next(60))
    removeRestore(`${state}.restore`)
    tidySnapshots(to)
    const again = openSqliteStore({ path: state, tables })
    expect([round, toHex(again.appHash())]).toEqual([round, hashes.get(again.height())])
    expect(toHex(again.recomputeRoot())).toBe(hashes.get(again.height()))
    expect(again.get(notes, { id: 1 })?.name).toBe('own')
    again.close()
    for (const {
      metadata: { height },
    } of listSnapshots(to))
      expect(filesOf(snapshotPath(to, height))).toEqual(whole.get(height))
  }
  expect(listSnapshots(to).length).toBeGreaterThan(0)
})

test('a snapshot that is tidied away while it is written fails: it is never one without the chunks that were removed', async () => {
  const to = join(folder.path, 'tidied')
  let isEnded = false
  const said = runAndKill([join(import.meta.dirname, 'tidiedChild.ts'), to], 50, 0).finally(() => {
    isEnded = true
  })
  for (; !isEnded; await setImmediate()) tidySnapshots(to)
  const came = new Set((await said).trimEnd().split('\n'))
  expect([came.has('ENOENT'), [...came].filter((line) => line !== 'ENOENT' && line !== 'whole')]).toEqual([true, []])
})

test('a snapshot that lacks a chunk is written anew, and one that is whole is kept', () => {
  const path = join(folder.path, 'anew')
  const store = openMemoryStore({ tables })
  commitRandom(store, 1, 1)
  const write = (): unknown => {
    writeSnapshot(store, tables, path, 500)
    return filesOf(snapshotPath(path, 1))
  }
  const whole = write()
  const file = (index: number): string => join(snapshotPath(path, 1), chunkFile(index))
  writeFileSync(file(1), 'kept')
  expect(write()).not.toEqual(whole)
  rmSync(file(0))
  expect(write()).toEqual(whole)
})

test('nothing of a restore that was killed is left beside the state', () => {
  const path = join(folder.path, 'left.db.restore')
  for (const end of ['', '-journal', '-wal', '-shm']) writeFileSync(`${path}${end}`, 'left')
  removeRestore(path)
  expect(readdirSync(folder.path).filter((name) => name.startsWith('left.db'))).toEqual([])
})
