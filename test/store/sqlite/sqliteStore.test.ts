import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from '@jest/globals'
import { addressBytes } from '../../../src/values/address.ts'
import { printPubKey } from '../../../src/values/pubKey.ts'
import { openConnection } from '../../../src/base/sqlite.ts'
import type { StoreError } from '../../../src/base/storeError.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { openSqliteReader } from '../../../src/store/sqlite/sqliteReader.ts'
import { checkVersion } from '../../../src/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { uint } from '../../../src/values/number.ts'
import { text } from '../../../src/values/text.ts'
import { type RowOf, table } from '../../../src/store/table.ts'
import { commitWith } from '../snapshot/support.ts'
import {
  absences,
  accounts,
  addressAt,
  members,
  notes,
  params,
  proposalIdAt,
  pubKeyAt,
  tables,
  totals,
  votes,
} from '../tables.ts'
import { tempFolder } from '../../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('sqlite')
afterAll(() => {
  remove()
})
let files = 0
const newPath = (): string => join(folder, `${files++}.db`)

/** A state of one committed block, closed. */
function made(): string {
  const path = newPath()
  const store = openSqliteStore({ path, tables })
  commitWith(store, (state) => state.put(absences, { candidacyId: 1, count: 2 }))
  store.close()
  return path
}

test('a commit waits for the disk in the file made, after its first write, and when it is opened again', () => {
  const path = newPath()
  const full = (): unknown => {
    const { db, close } = openConnection(path, { readonly: false })
    const settings = () => ['synchronous', 'fullfsync'].map((name) => db.pragma(name, { simple: true }))
    const before = settings()
    db.exec("CREATE TABLE IF NOT EXISTS meta (name TEXT); INSERT INTO meta VALUES ('x')")
    const after = settings()
    close()
    return [before, after]
  }
  const FULL = [2n, 1n]
  expect([full(), full()]).toEqual([
    [FULL, FULL],
    [FULL, FULL],
  ])
})

test('a long write-ahead log is cut to 64 MiB once it is written back', () => {
  const path = newPath()
  const { db, close } = openConnection(path, { readonly: false })
  const walMib = (): number => statSync(`${path}-wal`).size / 2 ** 20
  db.exec('CREATE TABLE meta (bytes BLOB); INSERT INTO meta VALUES (zeroblob(80 << 20))')
  expect(walMib()).toBeGreaterThan(80)
  db.exec('INSERT INTO meta VALUES (zeroblob(1))')
  expect(walMib()).toBe(64)
  close()
})

test('a row that could not be taken back is refused', () => {
  const store = openSqliteStore({ path: newPath(), tables })
  const put = (name: string, value: string): void =>
    commitWith(store, (state) => state.put(params, { name, height: 1, value }))
  expect(() => put('n'.repeat(300), 'x')).toThrow(
    /^undo: a row of params with 3\d\d and 0 bytes is too long to be kept$/,
  )
  // What a row was before is kept, so the next write of a long one is refused.
  put('name', 'x'.repeat(2 ** 24))
  expect(() => put('name', 'y')).toThrow(/^undo: a row of params with \d+ and 1677\d{4} bytes is too long to be kept$/)
  store.close()
})

test('a person reads addresses, amounts, keys and flags as text', () => {
  const path = newPath()
  const store = openSqliteStore({
    path,
    tables,
    views: [{ name: 'rich', sql: 'SELECT address FROM accounts WHERE length(balance) > 18' }],
  })
  commitWith(store, (state) => {
    state.put(accounts, { address: addressAt(1), balance: 10n ** 20n, nonce: 3 })
    state.put(members, { pubKey: pubKeyAt(2), candidacyId: 1, lastHeight: 9 })
    state.put(notes, { id: 1, verified: true, name: 'n' })
    state.put(totals, { genesisSupply: 7n, minted: 0n, burned: 0n })
  })
  const look = (sql: string): unknown => new Database(path, { readonly: true }).prepare(sql).get()
  expect(look('SELECT * FROM accounts')).toEqual({ address: addressAt(1), balance: '100000000000000000000', nonce: 3 })
  expect(look('SELECT * FROM validator_set')).toEqual({
    pub_key: printPubKey(pubKeyAt(2)),
    candidacy_id: 1,
    last_height: 9,
  })
  expect(look('SELECT * FROM notes')).toEqual({ id: 1, verified: 'Y', name: 'n' })
  expect(look('SELECT genesis_supply, minted FROM totals')).toEqual({ genesis_supply: '7', minted: '0' })
  expect(look('SELECT * FROM rich')).toEqual({ address: addressAt(1) })
  store.close()
})

test('views are made anew at each open', () => {
  const path = made()
  openSqliteStore({ path, tables, views: [{ name: 'old', sql: 'SELECT 1 AS one' }] }).close()
  openSqliteStore({ path, tables, views: [{ name: 'fresh', sql: 'SELECT 2 AS two' }] }).close()
  expect(new Database(path).prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all()).toEqual([
    { name: 'fresh' },
  ])
})

test('a part that fails inside a commit leaves the state whole, and the same block can be committed after', () => {
  const fragile = table('fragile', {
    tag: 0x70,
    key: { id: uint },
    row: { value: { ...text, print: (value: string) => (value === 'bad' ? ({ not: 'sql' } as never) : value) } },
    message: { name: '', encode: (row) => Buffer.from(row['value'] as string), decode: () => ({}) },
  })
  const path = newPath()
  const all = [...tables, fragile]
  const store = openSqliteStore({ path, tables: all })
  commitWith(store, (state) => {
    for (let id = 0; id < 50; id++) state.put(absences, { candidacyId: id, count: 1 })
  })
  const root = store.appHash()
  const overlay = createOverlay(store)
  for (let id = 0; id < 50; id++) overlay.put(absences, { candidacyId: id, count: 7 })
  overlay.put(fragile, { id: 1, value: 'bad' })
  expect(() =>
    store.commit(store.prepare(overlay), { height: 2, timeMs: 1, chainId: 'test', transactions: 0 }),
  ).toThrow()
  expect([store.height(), store.appHash(), store.get(absences, { candidacyId: 3 })?.count, store.block(2)]).toEqual([
    1,
    root,
    1,
    undefined,
  ])
  expect(store.recomputeRoot()).toEqual(root)
  overlay.put(fragile, { id: 1, value: 'good' })
  store.commit(store.prepare(overlay), { height: 2, timeMs: 1, chainId: 'test', transactions: 0 })
  expect(store.recomputeRoot()).toEqual(store.appHash())
  store.close()
  const again = openSqliteStore({ path, tables: all })
  expect([
    again.height(),
    again.get(absences, { candidacyId: 3 })?.count,
    again.get(fragile, { id: 1 })?.value,
  ]).toEqual([2, 7, 'good'])
  again.close()
})

test('a walk that was begun and is kept gives rows as they are now, and is begun anew when their order changed', () => {
  const store = openSqliteStore({ path: newPath(), tables })
  const put = (...rows: readonly RowOf<typeof absences>[]): void =>
    commitWith(store, (state) => rows.forEach((row) => state.put(absences, row)))
  const walk = (index?: 'byCount', most = 100): string[] => {
    const seen = []
    for (const { candidacyId, count } of store.scan(absences, index === undefined ? {} : { index })) {
      seen.push(`${candidacyId}:${count}`)
      if (seen.length === most) break
    }
    return seen
  }
  put(...Array.from({ length: 30 }, (_, at) => ({ candidacyId: at, count: 30 - at })))
  // Both orders are walked a little way, and more of them was read than was given.
  expect([walk('byCount', 2), walk(undefined, 2)]).toEqual([
    ['29:1', '28:2'],
    ['0:30', '1:29'],
  ])
  // In no order of counts: 29 leaves the first place, 5 comes before all.
  put({ candidacyId: 29, count: 40 }, { candidacyId: 5, count: 1 })
  expect(walk('byCount', 3)).toEqual(['5:1', '28:2', '27:3'])
  expect(walk(undefined, 6).at(-1)).toBe('5:1')
  expect(walk().at(-1)).toBe('29:40')
  // Out of the index, in again, gone.
  put({ candidacyId: 28, count: 60 })
  expect(walk('byCount', 2)).toEqual(['5:1', '27:3'])
  put({ candidacyId: 28, count: 1 })
  expect(walk('byCount', 2)).toEqual(['5:1', '28:1'])
  commitWith(store, (state) => state.remove(absences, { candidacyId: 5 }))
  expect([walk('byCount', 1), walk(undefined, 6).at(-1)]).toEqual([['28:1'], '6:24'])
  store.close()
})

test('a kept walk of an index gives a row anew that was changed and stayed in its place', () => {
  const store = openSqliteStore({ path: newPath(), tables })
  const vote = { proposalId: proposalIdAt(1), voter: addressAt(1), blockHeight: 7 }
  const put = (answer: string): void =>
    commitWith(store, (state) => {
      for (let candidacyId = 0; candidacyId < 20; candidacyId++) state.put(votes, { ...vote, candidacyId, answer })
    })
  const answers = (most: number): string[] => {
    const seen = []
    for (const { answer } of store.scan(votes, { index: 'byVoter', prefix: addressBytes(addressAt(1)) })) {
      seen.push(answer)
      if (seen.length === most) break
    }
    return seen
  }
  put('Y')
  expect(answers(2)).toEqual(['Y', 'Y'])
  put('N')
  expect([answers(20), answers(20)]).toEqual([new Array(20).fill('N'), new Array(20).fill('N')])
  store.close()
})

test('a reader sees one whole block for as long as it reads, whatever is committed meanwhile', () => {
  const path = newPath()
  const store = openSqliteStore({ path, tables })
  commitWith(store, (state) => {
    for (let id = 0; id < 100; id++) state.put(absences, { candidacyId: id, count: 1 })
  })
  const reader = openSqliteReader({ path, tables })
  const seen = reader.read((state) => {
    const first = state.height()
    commitWith(store, (inner) => {
      for (let id = 0; id < 100; id++) inner.put(absences, { candidacyId: id, count: 2 })
    })
    return [
      first,
      state.height(),
      new Set([...state.scan(absences)].map((row) => row.count)),
      state.recomputeRoot(),
      state.appHash(),
    ]
  })
  expect(seen.slice(0, 3)).toEqual([1, 1, new Set([1])])
  expect(seen[3]).toEqual(seen[4])
  expect(reader.read((state) => [state.height(), state.get(absences, { candidacyId: 5 })?.count])).toEqual([2, 2])
  expect(reader.read((state) => [state.timeMs(), state.chainId(), state.appHash(), state.block(1)?.height])).toEqual([
    2000,
    'test',
    store.appHash(),
    1,
  ])
  const walk = reader.read((state) => {
    const iterator = state.scan(absences)[Symbol.iterator]()
    iterator.next()
    return iterator
  })
  expect(() => {
    while (walk.next().done !== true) {
      /* to its end */
    }
  }).toThrow('walk')
  expect(() => reader.read(async () => undefined)).toThrow('synchronous')
  reader.close()
  store.close()
})

test('a newer schema, another chain, a foreign database and a file that is none are refused in one line that names the file', () => {
  const newer = made()
  new Database(newer).prepare("UPDATE meta SET value = '99' WHERE name = 'schema_version'").run()
  const foreign = newPath()
  new Database(foreign).exec('CREATE TABLE recipes (name TEXT)')
  const foreignMeta = newPath()
  new Database(foreignMeta).exec('CREATE TABLE meta (k TEXT)')
  const emptyMeta = newPath()
  new Database(emptyMeta).exec('CREATE TABLE meta (name TEXT, value TEXT)')
  const noDatabase = newPath()
  writeFileSync(noDatabase, 'a letter to somebody, long enough to be taken for a header of a file'.repeat(20))
  const bytes = readFileSync(noDatabase)
  const noLock = newPath()
  writeFileSync(`${noLock}.lock`, bytes)
  const altered = made()
  new Database(altered).exec('ALTER TABLE votes ADD COLUMN mood TEXT')
  const cases: readonly (readonly [string, RegExp, StoreError['code']])[] = [
    [newer, /schema version 99, this program reads version 2: a newer release wrote it$/, 'otherRelease'],
    [made(), /chain test, not of other/, 'otherChain'],
    [foreign, /something else/, 'otherFile'],
    [foreignMeta, /something else/, 'otherFile'],
    [emptyMeta, /something else/, 'otherFile'],
    [noDatabase, /is not a database/, 'otherFile'],
    [noLock, /\.lock: is not a database/, 'otherFile'],
    [altered, /votes has other columns than this program's: another release wrote it$/, 'otherRelease'],
    [join(folder, 'no', 'folder.db'), /cannot be opened/, 'cannotOpen'],
  ]
  for (const [path, why, code] of cases) {
    let error: StoreError | undefined
    try {
      openSqliteStore({ path, tables, expectChainId: 'other' })
    } catch (thrown) {
      error = thrown as StoreError
    }
    expect([error?.name, error?.code]).toEqual(['StoreError', code])
    expect(error?.message).toMatch(why)
    expect(error?.message.startsWith(path)).toBe(true)
    expect(error?.message).not.toContain('\n')
  }
  expect(readFileSync(noDatabase)).toEqual(bytes)
  expect(() => openSqliteReader({ path: newer, tables })).toThrow('schema version 99')
  expect(() => openSqliteReader({ path: join(folder, 'none.db'), tables })).toThrow('cannot be opened')
})

test('a disk that fails while the schema version is read says nothing of what the file holds', () => {
  const failure = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
  const connection = openConnection(made(), { readonly: true })
  const statement = (): never => {
    throw failure
  }
  expect(() => checkVersion({ ...connection, statement }, 'state.db')).toThrow(failure)
  connection.close()
})

test('a second writer is refused, in this process and in another, while others may read; once the first is closed it may open', () => {
  const path = newPath()
  const store = openSqliteStore({ path, tables })
  commitWith(store, (state) => state.put(absences, { candidacyId: 1, count: 2 }))
  expect(() => openSqliteStore({ path, tables })).toThrow('is open in another process')
  const script = `import { openSqliteStore } from ${JSON.stringify(join(import.meta.dirname, '../../../src/store/sqlite/sqliteStore.ts'))}
    import { openSqliteReader } from ${JSON.stringify(join(import.meta.dirname, '../../../src/store/sqlite/sqliteReader.ts'))}
    try { openSqliteStore({ path: ${JSON.stringify(path)}, tables: [] }) } catch (error) { console.log(error.name) }
    console.log(openSqliteReader({ path: ${JSON.stringify(path)}, tables: [] }).read((state) => state.height()))`
  expect(execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script], { encoding: 'utf8' })).toBe(
    'StoreError\n1\n',
  )
  store.close()
  openSqliteStore({ path, tables }).close()
})

test('a table and an index that come with a later release are made and filled', () => {
  const path = newPath()
  const store = openSqliteStore({ path, tables: [votes, params] })
  const vote: RowOf<typeof votes> = {
    proposalId: proposalIdAt(1),
    candidacyId: 3,
    voter: addressAt(1),
    answer: 'Y',
    blockHeight: 9,
  }
  commitWith(store, (state) => state.put(votes, vote))
  store.close()
  const byHeight = (row: RowOf<typeof votes>): Uint8Array => Uint8Array.of(row.blockHeight)
  const later = { ...votes, indexes: { ...votes.indexes, byHeight } }
  const again = openSqliteStore({ path, tables: [later, params, accounts] })
  expect([...again.scan(later, { index: 'byHeight', prefix: Uint8Array.of(9) })]).toEqual([vote])
  expect(again.count(accounts)).toBe(0)
  again.close()
})

test('SQL order, byte order and number order of keys are one', () => {
  const path = newPath()
  const store = openSqliteStore({ path, tables })
  commitWith(store, (state) => {
    for (let n = 0; n < 60; n++) {
      state.put(accounts, { address: addressAt(n), balance: 1n, nonce: 0 })
      state.put(absences, { candidacyId: Math.floor(2 ** (n * 0.88)), count: 1 })
      state.put(params, { name: String.fromCodePoint(0x41 + n * 977), height: n, value: 'v' })
    }
  })
  for (const [of, sql] of [
    [accounts, 'address'],
    [absences, 'candidacy_id'],
    [params, 'name, height'],
  ] as const) {
    const rows = [...store.scan(of as typeof accounts)] as object[]
    const keys = rows.map((row) => Buffer.from(of.keyOf(row as never)))
    expect(keys).toEqual([...keys].sort(Buffer.compare))
    const stored = new Database(path, { readonly: true })
      .prepare(`SELECT ${sql} FROM ${of.name} ORDER BY ${sql}`)
      .raw()
      .all() as unknown[][]
    expect(stored.map((raw) => raw[0])).toEqual(rows.map((row) => Object.values(row)[0]))
  }
  store.close()
})

test('a value that was never written is told, with a code of storage: it stops the process and is no verdict', () => {
  const path = made()
  new Database(path).exec(`UPDATE absences SET count = 9007199254740991`)
  const store = openSqliteStore({ path, tables })
  expect(store.get(absences, { candidacyId: 1 })?.count).toBe(Number.MAX_SAFE_INTEGER)
  store.close()
  new Database(path).exec(`UPDATE absences SET count = 9007199254740993`)
  const again = openSqliteStore({ path, tables })
  // 2^53 + 1: better-sqlite3 would round it into its neighbour.
  expect(() => again.get(absences, { candidacyId: 1 })).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('absences.count: the state holds 9007199254740993'),
      code: 'SQLITE_CORRUPT_ROW',
    }),
  )
  again.close()
})

test('rows changed behind the store are found by the root worked out anew', () => {
  const path = made()
  new Database(path).exec('UPDATE absences SET count = 3')
  const store = openSqliteStore({ path, tables })
  expect(store.recomputeRoot()).not.toEqual(store.appHash())
  store.close()
})

test('a rollback is on disk, is refused a second time in one line, and a file without the table for it gets it', () => {
  const path = made()
  const older = new Database(path)
  older.exec('DROP TABLE undo')
  older.close()
  const store = openSqliteStore({ path, tables })
  expect(() => store.rollback()).toThrow('block 1 cannot be taken back')
  const root = store.appHash()
  commitWith(store, (state) => state.put(absences, { candidacyId: 1, count: 9 }))
  store.rollback()
  store.close()
  const again = openSqliteStore({ path, tables })
  expect([again.height(), again.appHash(), again.recomputeRoot()]).toEqual([1, root, root])
  expect(again.get(absences, { candidacyId: 1 })?.count).toBe(2)
  expect(() => again.rollback()).toThrow(
    expect.objectContaining({
      name: 'StoreError',
      message: expect.stringMatching(/^block 1 cannot be taken back: only one is kept .* from genesis$/),
    }),
  )
  again.close()
})

test('a rollback gives back rows of any length', () => {
  const store = openSqliteStore({ path: newPath(), tables })
  const rows = [1, 255, 256, 70_000, 100_000].map((length, height) => ({
    name: 'p',
    height,
    value: 'v'.repeat(length),
  }))
  commitWith(store, (state) => {
    for (const row of rows) state.put(params, row)
  })
  commitWith(store, (state) => {
    for (const row of rows) state.put(params, { ...row, value: 'w' })
  })
  store.rollback()
  expect([...store.scan(params)]).toEqual(rows)
  store.close()
})

test('a rollback that would not lead to the app hash of the block before is refused and changes nothing', () => {
  const path = made()
  const store = openSqliteStore({ path, tables })
  commitWith(store, (state) => state.put(absences, { candidacyId: 2, count: 9 }))
  store.close()
  new Database(path).exec("UPDATE undo SET rows_before = x''")
  const again = openSqliteStore({ path, tables })
  expect(() => again.rollback()).toThrow(
    expect.objectContaining({
      name: 'StoreError',
      message: expect.stringContaining('nothing was taken back'),
    }),
  )
  expect([again.height(), again.get(absences, { candidacyId: 2 })?.count]).toEqual([2, 9])
  expect(again.appHash()).toEqual(again.recomputeRoot())
  again.close()
})

test('the same tag or name twice is refused', () => {
  expect(() => openSqliteStore({ path: newPath(), tables: [accounts, { ...absences, tag: accounts.tag }] })).toThrow(
    'two tables have the tag 1',
  )
  expect(() => openSqliteStore({ path: newPath(), tables: [accounts, { ...absences, name: 'accounts' }] })).toThrow(
    'two tables have the name accounts',
  )
})
