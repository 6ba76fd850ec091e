import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { toHex } from '../../src/base/bytes.ts'
import { startSnapshotMaker } from '../../src/node/snapshots/maker.ts'
import { findSnapshot, restoreInto } from '../../src/cli/commands/snapshot.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { listSnapshots } from '../../src/store/snapshot/folder.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('maker')
afterAll(remove)
const LIMIT_MS = 300_000

interface Line {
  readonly fields: { readonly height?: number; readonly why?: string }
  readonly message: string
}

function setUp(name: string, interval: number) {
  const path = join(folder, `${name}.db`)
  const store = openSqliteStore({ path, tables, views })
  const chain = new TestChain({ store })
  chain.init({
    accounts: Array.from({ length: 3000 }, (_, at) => ({ address: account(at + 10).address, balance: tokens(at + 1) })),
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(100) }],
  })
  const log: Line[] = []
  const note = (fields: object, message: string): void => void log.push({ fields, message })
  const snapshots = join(folder, name)
  const logger = { info: note, error: note }
  const maker = startSnapshotMaker({ path, folder: snapshots, interval, keep: 2, height: store.height(), logger })
  const hashes = new Map<number, string>()
  const block = (): void => {
    chain.block()
    hashes.set(chain.height, toHex(store.appHash()))
    maker.beginAt(chain.height)
  }
  const saidTimes = (message: string): number => log.filter((line) => line.message === message).length
  /** Blocks go on until this was logged so many times. */
  const until = async (message: string, times: number, pauseMs = 1): Promise<void> => {
    for (const deadlineMs = performance.now() + LIMIT_MS; saidTimes(message) < times; await sleep(pauseMs)) {
      block()
      if (performance.now() > deadlineMs)
        throw new Error(`"${message}" was not logged ${times} times: ${JSON.stringify(log)}`)
    }
  }
  return { store, chain, maker, log, hashes, snapshots, until }
}

test('while blocks go on the thread makes snapshots of just the heights of the interval, whole ones, and keeps two', async () => {
  const { store, maker, log, hashes, snapshots, until } = setUp('whole', 3)
  await until('a snapshot was made', 4)
  await maker.close()
  const made = log
    .filter(({ message }) => message === 'a snapshot was made')
    .map(({ fields }) => fields.height as number)
  expect(made.filter((height) => height % 3 !== 0)).toEqual([])
  const listed = listSnapshots(snapshots)
  expect(listed.map(({ metadata }) => metadata.height).slice(0, 2)).toEqual(expect.arrayContaining(made.slice(-1)))
  for (const {
    metadata: { height, appHash },
  } of listed) {
    expect([height, toHex(appHash)]).toEqual([height, hashes.get(height)])
    restoreInto(join(folder, 'check.db'), findSnapshot(snapshots, height))
  }
  expect(listed.length).toBeLessThanOrEqual(3) // one more than two when it ended between making and removing
  store.close()
})

test('the first of a long interval is made too, although its thread is not started at once', async () => {
  const { store, maker, log, until } = setUp('late', 520)
  // Its thread starts 500 blocks before, and has 10 s to load on a busy machine.
  await until('a snapshot was made', 1, 20)
  await maker.close()
  expect(log.map(({ fields }) => fields.height)).toEqual([520])
  store.close()
})

test('a thread that cannot write stops nothing: it is logged each time, and it goes on when it can', async () => {
  const { store, maker, log, snapshots, until } = setUp('failing', 2)
  writeFileSync(snapshots, 'in the way')
  await until('a snapshot could not be made', 2)
  expect(log.find(({ message }) => message.includes('could not'))?.fields.why).toContain('EEXIST')
  rmSync(snapshots)
  await until('a snapshot was made', 1)
  await maker.close()
  store.close()
})
