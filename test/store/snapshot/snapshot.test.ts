import { existsSync, mkdirSync, readdirSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { concat, utf8, u64be } from '../../../src/base/bytes.ts'
import { openMemoryStore } from '../../support/memoryStore.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import {
  keepNewest,
  listSnapshots,
  oldestSnapshot,
  snapshotPath,
  tidySnapshots,
} from '../../../src/store/snapshot/folder.ts'
import {
  CHUNK_BYTES,
  CHUNK_BYTES_MAX,
  decodeMetadata,
  encodeMetadata,
  recordsOf,
  type SnapshotMetadata,
  varint,
} from '../../../src/store/snapshot/format.ts'
import { writeSnapshot } from '../../../src/store/snapshot/write.ts'
import { lackOfRoom, openRestore, roomFor } from '../../../src/store/sqlite/restore.ts'
import { openSqliteReader } from '../../../src/store/sqlite/sqliteReader.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import type { CommittedState } from '../../../src/store/store.ts'
import type { Table } from '../../../src/store/table.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { commitRandom, commitWith, filesOf, metadataOf, restoreAt, rowsOf, snapshotIn } from './support.ts'
import { absences, accounts, addressAt, notes, params, tables } from '../tables.ts'

const folder = tempFolder('snapshot')
afterAll(folder.remove)
let names = 0
const newPath = (): string => join(folder.path, String(names++))
const open = (path = newPath()) => openSqliteStore({ path, tables })
const all: readonly Table[] = tables

describe('the bytes', () => {
  test('two nodes of one height write the same, whatever their history, their caches and their store', () => {
    const first = open()
    commitRandom(first, 7, 6)
    const others = [
      openSqliteStore({ path: newPath(), tables, rowCacheBytesMax: 1000, pagesCached: 2 }),
      openMemoryStore({ tables }),
    ]
    const paths = [first, ...others].map((store) => {
      if (store !== first) {
        // The same rows the other way round, in one block after five empty ones.
        for (let at = 0; at < 5; at++) commitWith(store, () => {})
        commitWith(store, (state) => {
          for (const table of [...tables].reverse()) {
            for (const row of [...first.scan(table as never)].reverse()) state.put(table as never, row)
          }
        })
      }
      const path = newPath()
      writeSnapshot(store, tables, path, 100)
      return snapshotPath(path, 6)
    })
    const [files, ...same] = paths.map(filesOf)
    expect(Object.keys(files ?? {}).length).toBeGreaterThan(30)
    for (const one of same) expect(one).toEqual(files)
    first.close()
  })

  test('fill the last chunk, too, without an empty one after it', () => {
    const store = open()
    commitRandom(store, 9, 2)
    const { bytes } = writeSnapshot(store, tables, newPath()).metadata
    const chunksOf = (size: number): number => writeSnapshot(store, tables, newPath(), size).metadata.chunkHashes.length
    expect([bytes - 1, bytes, bytes + 1].map(chunksOf)).toEqual([2, 1, 1])
    store.close()
  })

  test('of a height that has its snapshot already nothing changes, and nothing is left over', () => {
    const store = open()
    commitRandom(store, 8, 2)
    const path = newPath()
    writeSnapshot(store, tables, path)
    const before = [filesOf(snapshotPath(path, 2)), statSync(snapshotPath(path, 2)).ino]
    writeSnapshot(store, tables, path)
    expect([filesOf(snapshotPath(path, 2)), statSync(snapshotPath(path, 2)).ino]).toEqual(before)
    expect(readdirSync(path)).toEqual(['2-1'])
    // Unless it is of a block that was rolled back since. What a killed removal left is no obstacle.
    mkdirSync(join(path, 'tmp-2-old'))
    writeFileSync(join(path, 'tmp-2-old', 'left'), '')
    const other = openMemoryStore({ tables })
    commitRandom(other, 80, 2)
    const { metadataBytes } = writeSnapshot(other, tables, path)
    expect([listSnapshots(path)[0]?.metadataBytes, readdirSync(path)]).toEqual([Buffer.from(metadataBytes), ['2-1']])
    store.close()
  })

  test('a state that cannot be read to its end leaves no half snapshot', () => {
    const store = open()
    commitRandom(store, 9, 2)
    const failing: CommittedState = {
      ...store,
      appHash: () => {
        throw new Error('the disk is gone')
      },
    }
    const path = newPath()
    expect(() => writeSnapshot(failing, tables, path, 50)).toThrow('the disk is gone')
    expect(readdirSync(path)).toEqual([])
    store.close()
  })
})

describe('a round trip', () => {
  test.each([[20], [1000], [1_000_000]])(
    'in chunks of %i bytes gives the same rows, orders, root and next root',
    (chunkBytes) => {
      const from = open()
      commitRandom(from, chunkBytes, 4, 60)
      const { snapshot, chunks } = snapshotIn(newPath(), from, chunkBytes)
      const toPath = newPath()
      const to = open(toPath)
      commitRandom(to, 99, 2)
      to.putLocal(notes, { id: 3, verified: true, name: 'own' })
      const notesBefore = [...to.scan(notes)]
      const reader = openSqliteReader({ path: toPath, tables })
      for (const row of [...to.scan(accounts)]) to.get(accounts, row)
      const path = newPath()
      const restore = restoreAt(path, snapshot.metadata)
      for (const [index, chunk] of chunks.entries()) {
        expect(restore.next()).toBe(index)
        expect(restore.add(chunk)).toBe('taken')
      }
      restore.finish()
      expect(to.height()).toBe(2)
      const walk = to.scan(accounts)[Symbol.iterator]()
      walk.next()
      to.replaceBy(path)
      expect(() => walk.next()).toThrow('walk')
      expect([to.height(), to.appHash(), to.timeMs(), to.chainId()]).toEqual([4, from.appHash(), 4000, 'test'])
      expect(to.block(4)).toEqual({ height: 4, timeMs: 4000, appHash: from.appHash(), transactions: 0 })
      expect([to.block(1), to.block(2), to.recomputeRoot()]).toEqual([undefined, undefined, from.appHash()])
      const hashed = (state: CommittedState): unknown => (rowsOf(state) as unknown[]).slice(0, -1)
      expect(hashed(to)).toEqual(hashed(from))
      expect(reader.read(hashed)).toEqual(hashed(from))
      expect([...to.scan(notes)]).toEqual(notesBefore)
      for (let at = 0; at < 40; at++) {
        const key = { address: addressAt(at) }
        expect([to.get(accounts, key), to.prove(accounts, key)]).toEqual([
          from.get(accounts, key),
          from.prove(accounts, key),
        ])
      }
      for (const store of [from, to]) commitRandom(store, 5, 3)
      expect([to.height(), to.appHash()]).toEqual([7, from.appHash()])
      expect(to.recomputeRoot()).toEqual(from.appHash())
      reader.close()
      from.close()
      to.close()
    },
  )

  test('an empty store knows whose state it took', () => {
    const from = open()
    commitRandom(from, 1, 2)
    const { snapshot, chunks } = snapshotIn(newPath(), from, 1_000_000)
    const to = open()
    const path = newPath()
    const restore = restoreAt(path, snapshot.metadata)
    for (const chunk of chunks) restore.add(chunk)
    restore.finish()
    to.replaceBy(path)
    expect(to.chainId()).toBe('test')
    const overlay = createOverlay(to)
    expect(() =>
      to.commit(to.prepare(overlay), { height: 3, timeMs: 3000, chainId: 'other', transactions: 0 }),
    ).toThrow('not of other')
    from.close()
    to.close()
  })

  test('rows of every length about 128 bytes, where a length gets a second byte, come through', () => {
    const from = open()
    commitWith(from, (state) => {
      for (let length = 90; length < 140; length++)
        state.put(params, { name: 'n'.repeat(length), height: 1, value: 'v'.repeat(length) })
    })
    const { snapshot, chunks } = snapshotIn(newPath(), from, 1_000_000)
    const path = newPath()
    const restore = restoreAt(path, snapshot.metadata)
    for (const chunk of chunks) restore.add(chunk)
    restore.finish()
    const to = open()
    to.replaceBy(path)
    expect(rowsOf(to)).toEqual(rowsOf(from))
    from.close()
    to.close()
  })

  test('a state that cannot be taken leaves the disk as free as it was', () => {
    const from = open()
    commitRandom(from, 1, 2)
    const { snapshot, chunks } = snapshotIn(newPath(), from, 1_000_000)
    const [path, toPath] = [newPath(), newPath()]
    const to = open(toPath)
    const restore = restoreAt(path, snapshot.metadata)
    for (const chunk of chunks) restore.add(chunk)
    restore.finish()
    // More than SQLite keeps in memory, and then a failure.
    const many = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)'
    const rows = `${many} INSERT INTO params SELECT 'p' || i, 1, printf('%2000d', i) FROM n`
    new Database(path).exec(`${rows}; DROP TABLE blocks`).close()
    expect(() => to.replaceBy(path)).toThrow('no such table')
    expect(statSync(`${toPath}-wal`).size).toBe(0)
    for (const store of [from, to]) store.close()
  })

  test('another chain’s state is not taken', () => {
    const from = open()
    commitRandom(from, 1, 2)
    const { snapshot, chunks } = snapshotIn(newPath(), from, 1_000_000)
    const to = open()
    commitWith(to, () => {})
    const path = newPath()
    const restore = restoreAt(path, { ...snapshot.metadata, chainId: 'other' })
    restore.add(chunks[0] as Uint8Array)
    restore.finish()
    expect(() => to.replaceBy(path)).toThrow('chain other, not of test')
    expect([to.height(), to.count(accounts)]).toEqual([1, 0])
    commitWith(to, () => {})
  })
})

describe('what is refused', () => {
  const from = openMemoryStore({ tables })
  commitRandom(from, 3, 3)
  const made = snapshotIn(newPath(), from, 200)
  const { metadata } = made.snapshot
  const flip = (chunk: Uint8Array, at: number): Uint8Array =>
    chunk.map((byte, place) => (place === at ? byte ^ 0x10 : byte))

  test('each chunk flipped, cut, longer, another one or empty is bad, and the right one goes on', () => {
    const { chunks } = made
    expect(chunks.length).toBeGreaterThan(10)
    const path = newPath()
    const restore = restoreAt(path, metadata)
    for (const [index, chunk] of chunks.entries()) {
      const other = chunks[(index + 1) % chunks.length] as Uint8Array
      const longer = concat(chunk, Uint8Array.of(0))
      const bad = [flip(chunk, 0), flip(chunk, chunk.length - 1), chunk.slice(1), chunk.slice(0, -1), longer, other]
      for (const one of [...bad, new Uint8Array(0)]) expect(restore.add(one)).toBe('bad')
      expect(restore.next()).toBe(index)
      expect(restore.add(chunk)).toBe('taken')
    }
    expect(restore.add(chunks[0] as Uint8Array)).toBe('bad')
    restore.finish()
    const store = open(path)
    expect([store.appHash(), store.recomputeRoot()]).toEqual([from.appHash(), from.appHash()])
    store.close()
  })

  test('a chunk that is longer or shorter than the metadata counts is bad, whatever its hash', () => {
    const { chunks } = made
    const whole = concat(...chunks)
    for (const bytes of [whole.length - 1, whole.length + 1]) {
      const restore = restoreAt(newPath(), { ...metadataOf(metadata, whole), bytes, chunkBytes: bytes })
      expect(restore.add(whole)).toBe('bad')
      restore.drop()
    }
  })

  test('a chunk that the disk does not take is not blamed on the snapshot', () => {
    const path = newPath()
    const restore = restoreAt(path, metadata)
    const other = new Database(path)
    other.exec('DROP TABLE leaves')
    other.close()
    expect(() => restore.add(made.chunks[0] as Uint8Array)).toThrow(/^no such table: leaves$/)
    restore.drop()
  })

  test('a snapshot for which the disk lacks room is told with both sizes', () => {
    const { bavail, bsize } = statfsSync(folder.path)
    const free = bavail * bsize
    const why = (one: Partial<SnapshotMetadata>) => lackOfRoom(newPath(), { ...metadata, ...one })
    expect(why({})).toBeUndefined()
    expect(why({ bytes: free })).toMatch(/^it may take \d+ bytes of disk, and \d+ are free$/)
    expect(why({ records: free })).toMatch(/^it may take \d+ bytes of disk, and \d+ are free$/)
  })

  test('the disk that a restore takes, until it is the state, is what is counted or less', () => {
    const many = openMemoryStore({ tables })
    commitWith(many, (state) => {
      for (let at = 0; at < 40_000; at++)
        state.put(accounts, { address: addressAt(at), balance: 10n ** 12n, nonce: at })
    })
    const { snapshot, chunks } = snapshotIn(newPath(), many, CHUNK_BYTES)
    const place = newPath()
    mkdirSync(place)
    const [path, to] = [join(place, 'restore.db'), open(join(place, 'state.db'))]
    const size = (): number => readdirSync(place).reduce((sum, name) => sum + statSync(join(place, name)).size, 0)
    const before = size()
    const restore = restoreAt(path, snapshot.metadata)
    for (const chunk of chunks) restore.add(chunk)
    const added = size()
    restore.finish()
    const finished = size()
    to.replaceBy(path)
    const most = Math.max(added, finished, size())
    to.close()
    expect(most - before + snapshot.metadata.bytes).toBeLessThanOrEqual(roomFor(snapshot.metadata))
  })

  test('a snapshot without its last chunk is not finished', () => {
    const restore = restoreAt(newPath(), metadata)
    for (const chunk of made.chunks.slice(0, -1)) restore.add(chunk)
    expect(() => restore.finish()).toThrow('it ends within a record')
    restore.drop()
  })

  const records = [...recordsOf(from, all)]
  const record = (key: Uint8Array, value: Uint8Array): Uint8Array =>
    concat(varint(key.length), key, varint(value.length), value)
  const rowAt = { candidacyId: Number.MAX_SAFE_INTEGER, count: 7 }
  const extra = record(absences.keyOf(rowAt), absences.encode(rowAt))
  const place = records.findIndex((one) => (one[1] as number) > absences.tag)
  const withExtra = (one: Uint8Array): Uint8Array[] => [...records.slice(0, place), one, ...records.slice(place)]
  const keyOnly = absences.keyOf(rowAt)
  const forged: readonly (readonly [string, readonly Uint8Array[], number, RegExp])[] = [
    ['one row more', withExtra(extra), 1, /its rows have the app hash/],
    ['one row less', records.slice(1), -1, /its rows have the app hash/],
    ['no row', [Uint8Array.of(0, 0)], 1 - records.length, /no row/],
    ['two rows swapped', [records[1] as Uint8Array, records[0] as Uint8Array, ...records.slice(2)], 0, /not in order/],
    ['a row twice', withExtra(concat(extra, extra)), 2, /not in order/],
    ['a row that is all default', withExtra(record(keyOnly, new Uint8Array(0))), 1, /no row/],
    ['another spelling of a value', withExtra(record(keyOnly, Uint8Array.of(0x08, 0x87, 0x00))), 1, /no row/],
    ['a value that is no message', withExtra(record(keyOnly, utf8('nonsense'))), 1, /no row/],
    [
      'a key that is too long',
      withExtra(record(concat(keyOnly, Uint8Array.of(0)), absences.encode(rowAt))),
      1,
      /no row/,
    ],
    [
      'a number above 2^53',
      withExtra(
        record(
          keyOnly.map((byte, at) => (at === 0 ? byte : 0xff)),
          absences.encode(rowAt),
        ),
      ),
      1,
      /no row/,
    ],
    ['a table that nobody knows', [...records, record(Uint8Array.of(0xee), Uint8Array.of(1))], 1, /no row/],
    [
      'a table of the node’s own',
      [...records, record(Uint8Array.of(notes.tag, 0, 0, 0, 0, 0, 0, 0, 1), utf8('{}'))],
      1,
      /no row/,
    ],
    ['a length beyond all bounds', [...records, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x7f)], 0, /out of bounds/],
    ['a length spelt long', [...records, Uint8Array.of(0x89, 0x00)], 0, /shortest form/],
    ['bytes left over', [...records, Uint8Array.of(5, 1)], 0, /ends within a record/],
    ['another number of records', records, 1, /records, not/],
  ]

  test.each(forged)('%s, with metadata that fits: no state', (_name, parts, difference, why) => {
    const stream = concat(...parts)
    const path = newPath()
    const restore = restoreAt(path, metadataOf(metadata, stream, metadata.records + difference))
    const run = (): void => {
      restore.add(stream)
      restore.finish()
    }
    expect(run).toThrow(why)
    restore.drop()
    expect(existsSync(path)).toBe(false)
  })

  test('rows that tell no head are told as such', () => {
    const headOf = (): never => {
      throw new Error('there is no chain id')
    }
    const restore = openRestore({ path: newPath(), tables, metadata, headOf })
    for (const chunk of made.chunks) restore.add(chunk)
    expect(() => restore.finish()).toThrow('a row of it cannot be: there is no chain id')
    restore.drop()
  })

  test.each([
    ['height', { height: 4 }],
    ['chain', { chainId: 'other' }],
  ])('rows that name another %s', (_name, head) => {
    const stream = concat(...records)
    const restore = restoreAt(newPath(), metadataOf(metadata, stream), head)
    restore.add(stream)
    expect(() => restore.finish()).toThrow('its rows are those of')
    restore.drop()
  })
})

test('chunks are cut at the same places on every node', () => {
  expect([CHUNK_BYTES, CHUNK_BYTES_MAX]).toEqual([1_048_576, 10_485_760])
})

describe('metadata', () => {
  const hash = new Uint8Array(32).fill(9)
  const some: SnapshotMetadata = {
    chainId: 'test',
    height: 5,
    appHash: hash,
    records: 3,
    bytes: 2001,
    chunkBytes: 1000,
    chunkHashes: [hash, hash.map((byte) => byte + 1), hash],
  }

  test('is read as it was written, and nothing else is', () => {
    const bytes = encodeMetadata(some)
    expect(decodeMetadata(bytes)).toEqual(some)
    for (let length = 0; length < bytes.length; length++)
      expect(decodeMetadata(bytes.subarray(0, length))).toBeUndefined()
    expect(decodeMetadata(concat(bytes, hash))).toBeUndefined()
    const wrongs = [
      { height: 0 },
      { bytes: 2000 },
      { bytes: 3001 },
      { bytes: 0 },
      { chunkBytes: 0 },
      { chunkBytes: 500 },
      { records: 0 },
    ]
    for (const wrong of [...wrongs, { chainId: '' }]) {
      expect([wrong, decodeMetadata(encodeMetadata({ ...some, ...wrong }))]).toEqual([wrong, undefined])
    }
    expect(decodeMetadata(bytes.fill(0xff, 0, 8))).toBeUndefined()
  })

  test('allows chunks of 10 MiB and not a byte more, and as many of them as CometBFT lets a peer offer', () => {
    const one = { ...some, bytes: CHUNK_BYTES_MAX, chunkBytes: CHUNK_BYTES_MAX, chunkHashes: [hash] }
    expect(decodeMetadata(encodeMetadata(one))).toEqual(one)
    expect(
      decodeMetadata(encodeMetadata({ ...one, bytes: CHUNK_BYTES_MAX + 1, chunkBytes: CHUNK_BYTES_MAX + 1 })),
    ).toBeUndefined()
    const full = (chunks: number): SnapshotMetadata => ({
      ...some,
      bytes: chunks,
      chunkBytes: 1,
      chunkHashes: new Array<Uint8Array>(chunks).fill(hash),
    })
    const most = encodeMetadata(full(100_000))
    expect(decodeMetadata(most)?.chunkHashes).toHaveLength(100_000)
    expect(() => encodeMetadata(full(100_001))).toThrow('a snapshot of 100001 chunks, and peers take at most 100000')
    const more = concat(most, hash)
    more.set(u64be(100_001), 16) // The number of bytes, of which a chunk here has one.
    expect(decodeMetadata(more)).toBeUndefined()
  })
})

describe('the folder', () => {
  test('lists whole snapshots, the newest first and ten at most; keeps the newest; is tidied of what was left over', () => {
    const path = newPath()
    const store = openMemoryStore({ tables })
    for (let at = 0; at < 12; at++) {
      commitRandom(store, at, 1)
      writeSnapshot(store, tables, path)
    }
    for (const height of [4, 11]) mkdirSync(join(path, `tmp-${height}-left`))
    mkdirSync(snapshotPath(path, 13))
    writeFileSync(join(path, 'notes.txt'), 'not ours')
    const heights = (): number[] => listSnapshots(path).map(({ metadata }) => metadata.height)
    expect(heights()).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4])
    expect(oldestSnapshot(path)).toBe(1)
    keepNewest(path, 3)
    // What a killed process began of an older height would hold back pruning for as long as the node runs.
    expect([heights(), oldestSnapshot(path)]).toEqual([[12, 11], 11])
    expect(readdirSync(path)).toContain('tmp-11-left')
    tidySnapshots(path)
    expect([readdirSync(path).sort(), oldestSnapshot(path)]).toEqual([['11-1', '12-1', '13-1', 'notes.txt'], 11])
    expect([listSnapshots(newPath()), oldestSnapshot(newPath())]).toEqual([[], undefined])
  })
})

test('records of blocks go with a commit, a thousand at most, and never a row', () => {
  const store = open()
  for (let at = 0; at < 1005; at++) commitWith(store, (state) => state.put(absences, { candidacyId: at, count: 1 }))
  const next = (blocksFrom: number): void =>
    store.commit(store.prepare(createOverlay(store)), {
      height: store.height() + 1,
      timeMs: 1,
      chainId: 'test',
      transactions: 0,
      blocksFrom,
    })
  next(1004)
  expect([store.block(1000), store.block(1001)?.height, store.count(absences)]).toEqual([undefined, 1001, 1005])
  next(1004)
  expect([store.block(1003), store.block(1004)?.height, store.block(1007)?.height]).toEqual([undefined, 1004, 1007])
  store.close()
})
