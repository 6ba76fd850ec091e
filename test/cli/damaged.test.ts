/** Files that somebody or the disk changed: each is named in one line with the remedy, and nothing is written from it. */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { findSnapshot, restoreInto } from '../../src/cli/commands/snapshot.ts'
import { examineState } from '../../src/cli/doctorChecks.ts'
import { setTomlValues } from '../../src/comet/config.ts'
import { statePathOf } from '../../src/node/homes.ts'
import { openState, readVerifiedState } from '../../src/node/stateFile.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { account, CHAIN_ID, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { StoreError } from '../../src/base/storeError.ts'
import { exitStatusOf, shownFor } from '../../src/node/errors.ts'
import { type Ended, makePlace, type Place, svcd, typed } from './support.ts'

let place: Place
let home = ''
let whole = ''
const path = (): string => statePathOf(home)

beforeAll(async () => {
  place = makePlace([1, 2, 3])
  home = place.env['SVCD_HOME'] as string
  whole = join(place.folder, 'whole.db')
  const owner = account(1)
  expect(await svcd(place, ['init', '--chain-id', CHAIN_ID, '--owner', owner.address])).toMatchObject({ status: 0 })
  const store = openSqliteStore({ path: whole, tables, views })
  const chain = new TestChain({ store })
  chain.init({
    // Enough rows for some pages of the file.
    accounts: Array.from({ length: 500 }, (_, at) => ({ address: account(at + 1).address, balance: tokens(1000) })),
    candidacies: [{ owner, key: nodeKey(1), shares: tokens(1000) }],
  })
  for (let blocks = 3; blocks > 0; blocks--) chain.block()
  store.close()
})
afterAll(() => place.remove())
beforeEach(() => {
  mkdirSync(dirname(path()), { recursive: true })
  for (const end of ['-wal', '-shm']) rmSync(`${path()}${end}`, { force: true })
  copyFileSync(whole, path())
})

const sql =
  (text: string) =>
  (file: string): void => {
    const db = new Database(file)
    db.prepare(text).run()
    db.close()
  }

const bytes = (from: number, to: number) => (file: string) => {
  const text = readFileSync(file)
  writeFileSync(file, text.fill(0xa5, Math.floor(text.length * from), Math.floor(text.length * to)))
}

const ADDRESS = account(7).address

/** What happened to the file, and what is said of it. */
const DAMAGES: readonly (readonly [string, (file: string) => void, RegExp])[] = [
  ['a balance', sql(`UPDATE accounts SET balance = '6' WHERE address = '${ADDRESS}'`), /its rows give the app hash/],
  ['no number', sql(`UPDATE accounts SET balance = 'many' WHERE address = '${ADDRESS}'`), /many/],
  ['a row less', sql(`DELETE FROM accounts WHERE address = '${ADDRESS}'`), /its rows give the app hash/],
  [
    'the height of the block',
    sql('UPDATE blocks SET height = 9 WHERE height = 3'),
    /are those of test-chain at height 3/,
  ],
  ['the app hash of the block', sql("UPDATE blocks SET app_hash = '0' WHERE height = 3"), /damaged/],
  [
    'the chain id',
    sql("UPDATE meta SET value = 'other' WHERE name = 'chain_id'"),
    /are those of test-chain at height 3/,
  ],
  ['a table less', sql('DROP TABLE accounts'), /no such table: accounts/],
  ['half of the file', (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2)), /malformed/],
  ['bytes in the middle', bytes(0.3, 0.9), /malformed/],
]

describe('a state', () => {
  test('that is whole is read', () => {
    expect(readVerifiedState(path(), (state) => state.height())).toBe(3)
    expect(examineState(path()).map(({ verdict }) => verdict)).toEqual(['ok', 'ok'])
  })

  test.each(DAMAGES)('with other content (%s) is named with the remedy', (_, damage, why) => {
    damage(path())
    const line = {
      name: 'UserError',
      message: expect.stringMatching(/^\/\S+state\.db is damaged \(.*\)[^\n]*Run svcd reset and sync again$/),
    }
    const read = thrownBy(() => readVerifiedState(path(), (state) => state.height()))
    expect(read).toMatchObject(line)
    expect(read?.message).toMatch(why)
    // Whoever writes it finds the damage too, or opens it: not every row is read.
    const opened = thrownBy(() => openState(path(), undefined).close())
    if (opened !== undefined) expect(opened.name).toMatch(/^(?:UserError|StoreError)$/)
    expect(examineState(path()).map(({ verdict }) => verdict)).toContain('bad')
  })
})

/** What a function throws. */
function thrownBy(run: () => void): Error | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** A line that names a file and what to do, with status 1 or 2. */
function expectNamed(args: readonly string[], ended: Ended): void {
  expect([args, ended.stderr]).toEqual([args, expect.not.stringMatching(/unexpected error/)])
  expect([args, ended]).toMatchObject([args, { status: expect.any(Number), stdout: '' }])
  expect([args, ended.status === 1 || ended.status === 2]).toEqual([args, true])
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
}

test('svcd export and svcd snapshot create write nothing from a forged row', async () => {
  sql(`UPDATE accounts SET balance = '${tokens(1_000_000)}' WHERE address = '${ADDRESS}'`)(path())
  const output = join(place.folder, 'genesis.json')
  const forged =
    /state\.db is damaged \(at height 3 of test-chain its rows give the app hash [0-9A-F]{64}, but [0-9A-F]{64} was/
  for (const args of [
    ['export', '--chain-id', 'next', '--output', output],
    ['snapshot', 'create'],
  ]) {
    const ended = await svcd(place, args)
    expectNamed(args, ended)
    expect(ended.stderr).toMatch(forged)
  }
  expect(existsSync(output)).toBe(false)
  expect(existsSync(join(home, 'data', 'snapshots'))).toBe(false)
})

test('svcd reset removes the verified headers only of a chain that starts over', async () => {
  const light = join(home, 'light', CHAIN_ID)
  mkdirSync(light, { recursive: true })
  expect(await svcd(place, 'reset --yes')).toMatchObject({ status: 0 })
  expect(existsSync(light)).toBe(true)
  expect(await svcd(place, 'reset --yes --signing-state')).toMatchObject({ status: 0 })
  expect(existsSync(light)).toBe(false)
})

test('svcd reset says that a home made by state sync begins with the same block again', async () => {
  const config = join(home, 'config', 'config.toml')
  const before = readFileSync(config, 'utf8')
  expect(await svcd(place, 'reset --yes')).toMatchObject({ status: 0, stderr: '' })
  writeFileSync(config, setTomlValues(before, { 'statesync.enable': true, 'statesync.trust_height': 70 }))
  expect(await svcd(place, 'reset --yes')).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(
      /^config\.toml begins with state sync from block 70\. .* run svcd init with --genesis/,
    ),
  })
  writeFileSync(config, '[')
  expect(await svcd(place, 'reset --yes')).toMatchObject({ status: 0, stderr: '' })
  writeFileSync(config, before)
})

test('svcd snapshot create keeps as many snapshots as the node was told to, and no more', async () => {
  const folder = join(home, 'data', 'snapshots')
  for (const height of [1, 2]) mkdirSync(join(folder, `${height}-1`), { recursive: true })
  const keeping = { ...place, env: { ...place.env, SVCD_SNAPSHOT_KEEP: '3' } }
  expect(await svcd(keeping, 'snapshot create')).toMatchObject({ status: 0 })
  expect(readdirSync(folder).sort()).toEqual(['1-1', '2-1', '3-1'])
  rmSync(join(folder, '3-1'), { recursive: true })
  expect(await svcd(place, 'snapshot create --snapshot-keep 2')).toMatchObject({ status: 0 })
  expect(readdirSync(folder).sort()).toEqual(['2-1', '3-1'])
})

test('svcd snapshot verify leaves nothing behind, whatever ends it', async () => {
  const [folder, tmp] = [join(place.folder, 'verified'), join(place.folder, 'tmp')]
  readVerifiedState(path(), (state) => writeSnapshot(state, tables, folder))
  mkdirSync(tmp)
  const file = join(folder, '3-1', '000000.chunk')
  const chunk = readFileSync(file)
  rmSync(file)
  execFileSync('mkfifo', [file])
  const ended = svcd({ ...place, env: { ...place.env, TMPDIR: tmp } }, ['snapshot', 'verify', folder])
  const pipe = await open(file, 'w') // until somebody reads
  expect(readdirSync(tmp)).toEqual([])
  await pipe.writeFile(chunk)
  await pipe.close()
  expect(await ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/the rows have this app hash\n$/) })
})

test('damaged metadata and a damaged chunk of a snapshot are named with the remedy', () => {
  const folder = join(place.folder, 'snapshots')
  readVerifiedState(path(), (state) => writeSnapshot(state, tables, folder))
  const found = findSnapshot(folder, undefined)
  const to = join(place.folder, 'restore.db')
  const chunk = join(found.path, '000000.chunk')
  writeFileSync(chunk, readFileSync(chunk).fill(0xa5, 10, 20))
  expect(() => restoreInto(to, found)).toThrow(
    /000000\.chunk is not the chunk that .* Remove \S+3-1, and take another snapshot$/,
  )
  writeFileSync(join(found.path, 'metadata'), 'x')
  for (const height of [undefined, 3])
    expect(() => findSnapshot(folder, height)).toThrow(
      /3-1\/metadata is damaged\. Remove \S+3-1, and take another snapshot$/,
    )
})

test('every command that reads a broken state names it', async () => {
  truncateSync(path(), Math.floor(readFileSync(path()).length / 2))
  const commands = [
    ['export', '--chain-id', 'next'],
    ['snapshot', 'create'],
    ['rollback', '--app-only'],
    ['eni', 'list'],
    ['start'],
  ]
  const ended = await Promise.all(commands.map((args) => svcd(place, args)))
  for (const [index, args] of commands.entries()) {
    expectNamed(args, ended[index] as Ended)
    expect([args, ended[index]?.stderr]).toEqual([args, expect.stringMatching(/state\.db is damaged .*Run svcd reset/)])
  }
})

describe('a full disk', () => {
  test.each(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])(
    'the error of a command says how to go on after %s',
    (code) => {
      const shown = shownFor(Object.assign(new Error('disk I/O error'), { code }))
      expect(exitStatusOf(shown)).toBe(2)
      expect((shown as Error).message).toBe(
        'the disk is full: disk I/O error. Free some space, then run the command again',
      )
    },
  )

  test('other errors are shown as they are', () => {
    for (const error of [new StoreError('inUse', 'x'), new Error('x'), undefined]) expect(shownFor(error)).toBe(error)
  })

  test('svcd start and svcd reset make room where nothing can be written', async () => {
    const left = join(dirname(path()), 'restore.db')
    writeFileSync(left, 'of a restore that was killed')
    expect((await typed(place, 'ulimit -f 0; svcd start')).status).not.toBe(0)
    expect(existsSync(left)).toBe(false)
    expect(await typed(place, 'ulimit -f 0; svcd reset --yes')).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(path())).toBe(false)
  })

  test('a restore that fails at its end leaves nothing that fills the disk', async () => {
    const snapshots = join(place.folder, 'taken')
    readVerifiedState(path(), (state) => writeSnapshot(state, tables, snapshots))
    sql("CREATE TRIGGER kept BEFORE DELETE ON accounts BEGIN SELECT RAISE(ABORT, 'kept'); END")(path())
    expect(await svcd(place, ['snapshot', 'restore', snapshots])).toMatchObject({ status: 1 })
    expect(readdirSync(dirname(path())).filter((name) => name.startsWith('restore'))).toEqual([])
  })
})
