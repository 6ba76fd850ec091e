import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApplySnapshotChunkResult as Apply, OfferSnapshotResult as Offer, type Snapshot } from '../../src/abci/types.ts'
import type {
  CompleteApplication,
  ApplySnapshotChunkResponse,
  ListSnapshotsResponse,
  LoadSnapshotChunkResponse,
} from '../../src/abci/types.ts'
import { addressBytes } from '../../src/base/address.ts'
import { concat } from '../../src/base/bytes.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { decodeMetadata, encodeMetadata, type SnapshotMetadata } from '../../src/store/snapshot/format.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { random } from '../chain/support.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'

const folder = mkdtempSync(join(tmpdir(), 'svcd-app-snapshots-'))
let files = 0
const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

interface Node {
  readonly chain: TestChain
  readonly store: SqliteStore
  readonly home: string
  readonly log: { fields: object; message: string }[]
}

/** A node with a place for snapshots that makes one every `interval` blocks, in chunks of `chunkBytes`, on the spot. */
function node({
  interval = 5,
  chunkBytes = 300,
  chainId,
}: {
  interval?: number
  chunkBytes?: number
  chainId?: string
} = {}): Node {
  const home = join(folder, String(files++))
  const store = openSqliteStore({ path: `${home}.db`, tables, views })
  const log: Node['log'] = []
  const note = (fields: object, message: string): void => void log.push({ fields, message })
  const beginAt = (height: number): void => {
    if (height % interval === 0) writeSnapshot(store, tables, `${home}.snapshots`, chunkBytes)
  }
  const snapshots = {
    folder: `${home}.snapshots`,
    restorePath: `${home}.restore`,
    replaceBy: store.replaceBy,
    beginAt,
    chainId,
  }
  return { chain: new TestChain({ store, app: { snapshots, logger: { info: note, error: note } } }), store, home, log }
}

const list = (app: CompleteApplication): readonly Snapshot[] =>
  (app.listSnapshots({}) as ListSnapshotsResponse).snapshots ?? []
const load = async (app: CompleteApplication, { height, format }: Snapshot, chunk: number): Promise<Uint8Array> =>
  ((await app.loadSnapshotChunk({ height, format, chunk })) as LoadSnapshotChunkResponse).chunk ?? new Uint8Array(0)
const offer = (app: CompleteApplication, snapshot: Snapshot, appHash: Uint8Array): number =>
  (app.offerSnapshot({ snapshot, appHash }) as { result: number }).result
const apply = (
  app: CompleteApplication,
  index: number,
  chunk: Uint8Array,
  sender = 'peer',
): ApplySnapshotChunkResponse => app.applySnapshotChunk({ index, chunk, sender }) as ApplySnapshotChunkResponse
const accept = { result: Apply.accept }

let server: Node
let snapshot: Snapshot
let chunks: Uint8Array[]
let appHash: Uint8Array

beforeAll(async () => {
  server = node()
  server.chain.init({
    accounts: Array.from({ length: 40 }, (_, at) => ({ address: account(at + 10).address, balance: tokens(1000) })),
    candidacies: [
      { owner: account(1), key: nodeKey(1), shares: tokens(100) },
      { owner: account(2), key: nodeKey(2), shares: tokens(50) },
    ],
  })
  server.chain.deliver(account(12), 'transfer', { to: addressBytes(account(13).address), value: '5' })
  server.chain.advanceTo(10)
  snapshot = list(server.chain.app)[0] as Snapshot
  chunks = await Promise.all(
    Array.from({ length: snapshot.chunks }, (_, index) => load(server.chain.app, snapshot, index)),
  )
  appHash = server.store.appHash()
})
afterAll(() => {
  server.store.close()
  rmSync(folder, { recursive: true })
})

/** A node that has lived for some blocks, and a picture of its state. */
function living(): Node & { picture: () => unknown } {
  const one = node()
  one.chain.init({
    accounts: [{ address: account(77).address, balance: tokens(7) }],
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(100) }],
  })
  one.chain.advanceTo(3)
  const picture = (): unknown => [
    one.store.height(),
    one.store.appHash(),
    one.store.recomputeRoot(),
    one.store.block(2),
    tables.map((table) => [...one.store.scan(table as never)]),
    existsSync(`${one.home}.restore`),
  ]
  return { ...one, picture }
}

test('headers tell of the version that Info tells: CometBFT finishes no state sync otherwise', () => {
  const fresh = new TestChain()
  const { consensusParams } = fresh.init({
    accounts: [],
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }],
  })
  const { appVersion } = fresh.app.info({ version: '', blockVersion: 0, p2pVersion: 0, abciVersion: '' }) as {
    appVersion: number
  }
  expect([appVersion, consensusParams?.version]).toEqual([1, { app: 1 }])
})

describe('what is offered', () => {
  test('lists its snapshots with hash, metadata and chunks; what is not there is empty', async () => {
    expect(list(server.chain.app).map(({ height }) => height)).toEqual([10, 5])
    expect(snapshot).toMatchObject({
      format: 1,
      chunks: expect.any(Number),
      hash: Buffer.from(sha256(snapshot.metadata)),
    })
    expect(snapshot.chunks).toBeGreaterThan(8)
    expect(chunks.every((chunk) => chunk.length > 0)).toBe(true)
    const { app } = server.chain
    for (const at of [{ chunk: snapshot.chunks }, { height: 7 }, { format: 2 }, { chunk: 2 ** 32 - 1 }]) {
      expect(await load(app, { ...snapshot, ...at }, 'chunk' in at ? at.chunk : 0)).toHaveLength(0)
    }
  })
})

describe('a snapshot that is taken', () => {
  test('is the state: its node goes on with the next blocks, and makes the same snapshot of a later height', () => {
    const joiner = node()
    const { app } = joiner.chain
    expect(offer(app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) expect(apply(app, index, chunk)).toEqual(accept)
    expect([joiner.store.height(), joiner.store.appHash(), joiner.store.recomputeRoot()]).toEqual([
      10,
      appHash,
      appHash,
    ])
    const info = app.info({ version: '', blockVersion: 0, p2pVersion: 0, abciVersion: '' })
    expect(info).toMatchObject({ lastBlockHeight: 10, lastBlockAppHash: appHash })
    expect(existsSync(`${joiner.home}.restore`)).toBe(false)
    while (server.chain.height < 15) {
      const tx = server.chain.tx(account(12), 'transfer', { to: addressBytes(account(14).address), value: '9' })
      app.finalizeBlock({
        txs: [tx],
        decidedLastCommit: server.chain.lastCommit(),
        misbehavior: [],
        hash: new Uint8Array(0),
        height: server.chain.height + 1,
        time: { seconds: server.chain.time + 1, nanos: 0 },
        nextValidatorsHash: new Uint8Array(0),
        proposerAddress: new Uint8Array(0),
      })
      app.commit({})
      server.chain.block({ txs: [tx] })
      expect(joiner.store.appHash()).toEqual(server.store.appHash())
    }
    expect(list(app)[0]).toEqual(list(server.chain.app)[0])
    joiner.store.close()
  })

  test('replaces an older state and its half-open block; a higher state is not turned back', () => {
    const late = living()
    late.chain.finalize()
    const tx = server.chain.tx(account(12), 'transfer', { to: addressBytes(account(14).address), value: '1' }, 1)
    expect(late.chain.check(tx).code).not.toBe(0)
    expect(offer(late.chain.app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) expect(apply(late.chain.app, index, chunk)).toEqual(accept)
    expect(late.store.appHash()).toEqual(appHash)
    expect(() => late.chain.app.commit({})).toThrow('without a block before it')
    expect(late.chain.check(tx)).toMatchObject({ code: 0 })
    expect(late.chain.query(`/accounts/${account(13).address}`)).toMatchObject({
      balance: (tokens(1000) + 5n).toString(),
    })
    expect(late.chain.abciQuery(`/accounts/${account(77).address}`)).toMatchObject({ height: 10 })
    const lower = list(server.chain.app).find(({ height }) => height === 5) as Snapshot
    expect(offer(late.chain.app, lower, decodeMetadata(lower.metadata)?.appHash as Uint8Array)).toBe(Offer.reject)
    late.store.close()
  })
})

describe('what is refused', () => {
  test('each bad chunk is fetched anew from somebody else and its sender named; the old state is as it was until all is verified', () => {
    const one = living()
    const { app } = one.chain
    const before = one.picture()
    expect(offer(app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) {
      const other = chunks[index === 0 ? 1 : 0] as Uint8Array
      const bad = [chunk.map((byte, at) => (at === 7 ? byte ^ 1 : byte)), chunk.slice(1), new Uint8Array(0), other]
      for (const [at, lie] of bad.entries()) {
        one.log.length = 0
        expect(apply(app, index, lie, `liar${at}`)).toEqual({
          result: Apply.retry,
          refetchChunks: [index],
          rejectSenders: [`liar${at}`],
        })
        const fields = { height: 10, chunk: index, sender: `liar${at}` }
        expect(one.log).toEqual([{ fields, message: expect.stringContaining('a chunk is not') }])
      }
      const next = chunks[index + 1]
      if (next !== undefined)
        expect(apply(app, index + 1, next)).toEqual({ result: Apply.retry, refetchChunks: [index] })
      const [height, ...rest] = one.picture() as unknown[]
      expect([height, ...rest.slice(0, -1)]).toEqual((before as unknown[]).slice(0, -1))
      expect(apply(app, index, chunk)).toEqual(accept)
      if (next !== undefined) expect(apply(app, index, chunk)).toEqual(accept) // a chunk that comes twice
    }
    expect(one.store.appHash()).toEqual(appHash)
    expect(apply(app, 0, chunks[0] as Uint8Array)).toEqual({ result: Apply.abort })
    one.store.close()
  })

  test('metadata that fits other chunks is found out at the end, all who sent them are named, and the next snapshot is taken', () => {
    const one = living()
    const { app } = one.chain
    const before = one.picture()
    const honest = decodeMetadata(snapshot.metadata) as SnapshotMetadata
    const richer = (text: string): string => text.replace('1000000000000000000000', '9000000000000000000000')
    const forgedChunks = chunks.map((chunk) => Buffer.from(richer(Buffer.from(chunk).toString('latin1')), 'latin1'))
    const metadata = encodeMetadata({ ...honest, chunkHashes: forgedChunks.map(sha256) })
    expect(offer(app, { ...snapshot, metadata, hash: sha256(metadata) }, appHash)).toBe(Offer.accept)
    const answers = forgedChunks.map((chunk, index) => apply(app, index, chunk, `liar${index % 3}`))
    expect(answers.slice(0, -1)).toEqual(answers.slice(0, -1).map(() => accept))
    expect(answers.at(-1)).toEqual({ result: Apply.rejectSnapshot, rejectSenders: ['liar0', 'liar1', 'liar2'] })
    expect(one.picture()).toEqual(before)
    expect(offer(app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) expect(apply(app, index, chunk)).toEqual(accept)
    expect(one.store.appHash()).toEqual(appHash)
    one.store.close()
  })

  test('a thousand forged offers: none is taken, and the state is as it was', () => {
    const one = living()
    const fresh = node({ chainId: 'test-chain' })
    const before = one.picture()
    const honest = decodeMetadata(snapshot.metadata) as SnapshotMetadata
    const next = random(20)
    const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => next(256))
    const sealed = (metadata: Uint8Array): Snapshot => ({ ...snapshot, metadata, hash: sha256(metadata) })
    const forgeries: readonly (readonly [() => Snapshot, number])[] = [
      [() => ({ ...snapshot, format: 2 + next(1000) }), Offer.rejectFormat],
      [() => ({ ...snapshot, format: 0 }), Offer.rejectFormat],
      [() => ({ ...snapshot, hash: bytes(32) }), Offer.rejectSender],
      [() => ({ ...snapshot, hash: bytes(next(40)) }), Offer.rejectSender],
      [() => ({ ...snapshot, height: 11 + next(2 ** 31) }), Offer.rejectSender],
      [() => ({ ...snapshot, chunks: snapshot.chunks + 1 + next(100) }), Offer.rejectSender],
      [() => ({ ...snapshot, chunks: 0 }), Offer.rejectSender],
      [() => sealed(bytes(next(400))), Offer.rejectSender],
      [() => sealed(snapshot.metadata.subarray(0, next(snapshot.metadata.length))), Offer.rejectSender],
      [() => sealed(concat(snapshot.metadata, bytes(1 + next(100)))), Offer.rejectSender],
      [() => sealed(encodeMetadata({ ...honest, appHash: bytes(32) })), Offer.rejectSender],
      [() => sealed(encodeMetadata({ ...honest, chainId: `x${next(1000)}` })), Offer.rejectSender],
      [() => sealed(encodeMetadata({ ...honest, height: 11 + next(1000) })), Offer.rejectSender],
      [() => sealed(encodeMetadata({ ...honest, bytes: honest.bytes * (2 + next(9)) })), Offer.rejectSender],
    ]
    for (let at = 0; at < 1000; at++) {
      const [forge, expected] = forgeries[at % forgeries.length] as (typeof forgeries)[number]
      const forged = forge()
      for (const { chain } of [one, fresh]) expect([at, offer(chain.app, forged, appHash)]).toEqual([at, expected])
      expect(apply(one.chain.app, 0, chunks[0] as Uint8Array)).toEqual({ result: Apply.abort })
    }
    expect(offer(one.chain.app, snapshot, bytes(32))).toBe(Offer.rejectSender)
    expect((one.chain.app.offerSnapshot({ appHash }) as { result: number }).result).toBe(Offer.reject)
    expect(one.picture()).toEqual(before)
    expect([fresh.store.height(), existsSync(`${fresh.home}.restore`)]).toEqual([0, false])
    for (const { store } of [one, fresh]) store.close()
  })

  test('without a place for snapshots none is listed and none taken', async () => {
    const { app } = new TestChain()
    expect([list(app), await load(app, snapshot, 0), offer(app, snapshot, appHash)]).toEqual([
      [],
      new Uint8Array(0),
      Offer.reject,
    ])
    expect(apply(app, 0, chunks[0] as Uint8Array)).toEqual({ result: Apply.abort })
  })
})
