import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { ApplySnapshotChunkResult as Apply, OfferSnapshotResult as Offer, type Snapshot } from '../../src/abci/types.ts'
import { addressBytes } from '../../src/values/address.ts'
import { decodeMetadata, encodeMetadata, type SnapshotMetadata } from '../../src/store/snapshot/format.ts'
import {
  applyTo,
  listSnapshots,
  livingNode,
  loadChunk,
  offerTo,
  servingNode,
  sha256,
  snapshotNode,
  type SnapshotNode,
} from '../support/snapshotNodes.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('app-snapshots')
const node = (): SnapshotNode => snapshotNode(folder)
const living = (): SnapshotNode => livingNode(folder)
const accept = { result: Apply.accept }

let server: SnapshotNode
let snapshot: Snapshot
let chunks: Uint8Array[]
let appHash: Uint8Array

beforeAll(async () => {
  ;({ server, snapshot, chunks, appHash } = await servingNode(folder))
})
afterAll(() => {
  server.store.close()
  remove()
})

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
    expect(listSnapshots(server.chain.app).map(({ height }) => height)).toEqual([10, 5])
    expect(snapshot).toMatchObject({
      format: 1,
      chunks: expect.any(Number),
      hash: Buffer.from(sha256(snapshot.metadata)),
    })
    expect(snapshot.chunks).toBeGreaterThan(8)
    expect(chunks.every((chunk) => chunk.length > 0)).toBe(true)
    const { app } = server.chain
    for (const at of [{ chunk: snapshot.chunks }, { height: 7 }, { format: 2 }, { chunk: 2 ** 32 - 1 }]) {
      expect(await loadChunk(app, { ...snapshot, ...at }, 'chunk' in at ? at.chunk : 0)).toHaveLength(0)
    }
  })
})

describe('a snapshot that is taken', () => {
  test('is the state: its node goes on with the next blocks, and makes the same snapshot of a later height', () => {
    const joiner = node()
    const { app } = joiner.chain
    expect(offerTo(app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) expect(applyTo(app, index, chunk)).toEqual(accept)
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
      app.finalizeBlock({ ...server.chain.next({ txs: [tx] }), decidedLastCommit: server.chain.lastCommit() })
      app.commit({})
      server.chain.block({ txs: [tx] })
      expect(joiner.store.appHash()).toEqual(server.store.appHash())
    }
    expect(listSnapshots(app)[0]).toEqual(listSnapshots(server.chain.app)[0])
    joiner.store.close()
  })

  test('replaces an older state and its half-open block; a higher state is not turned back', () => {
    const late = living()
    late.chain.finalize()
    const tx = server.chain.tx(account(12), 'transfer', { to: addressBytes(account(14).address), value: '1' }, 1)
    expect(late.chain.check(tx).code).not.toBe(0)
    expect(offerTo(late.chain.app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) expect(applyTo(late.chain.app, index, chunk)).toEqual(accept)
    expect(late.store.appHash()).toEqual(appHash)
    expect(() => late.chain.app.commit({})).toThrow('without a block before it')
    expect(late.chain.check(tx)).toMatchObject({ code: 0 })
    expect(late.chain.query(`/accounts/${account(13).address}`)).toMatchObject({
      balance: (tokens(1000) + 5n).toString(),
    })
    expect(late.chain.abciQuery(`/accounts/${account(77).address}`)).toMatchObject({ height: 10 })
    const lower = listSnapshots(server.chain.app).find(({ height }) => height === 5) as Snapshot
    expect(offerTo(late.chain.app, lower, decodeMetadata(lower.metadata)?.appHash as Uint8Array)).toBe(Offer.reject)
    late.store.close()
  })
})

describe('what is refused', () => {
  test('each bad chunk is fetched anew from somebody else and its sender named; the old state is as it was until all is verified', () => {
    const one = living()
    const { app } = one.chain
    const before = one.picture()
    expect(offerTo(app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) {
      const other = chunks[index === 0 ? 1 : 0] as Uint8Array
      const bad = [chunk.map((byte, at) => (at === 7 ? byte ^ 1 : byte)), chunk.slice(1), new Uint8Array(0), other]
      for (const [at, lie] of bad.entries()) {
        one.log.length = 0
        expect(applyTo(app, index, lie, `liar${at}`)).toEqual({
          result: Apply.retry,
          refetchChunks: [index],
          rejectSenders: [`liar${at}`],
        })
        const fields = { height: 10, chunk: index, sender: `liar${at}` }
        expect(one.log).toEqual([{ fields, message: expect.stringContaining('a chunk is not') }])
      }
      const next = chunks[index + 1]
      if (next !== undefined)
        expect(applyTo(app, index + 1, next)).toEqual({ result: Apply.retry, refetchChunks: [index] })
      const [height, ...rest] = one.picture() as unknown[]
      expect([height, ...rest.slice(0, -1)]).toEqual((before as unknown[]).slice(0, -1))
      expect(applyTo(app, index, chunk)).toEqual(accept)
      if (next !== undefined) expect(applyTo(app, index, chunk)).toEqual(accept) // a chunk that comes twice
    }
    expect(one.store.appHash()).toEqual(appHash)
    expect(applyTo(app, 0, chunks[0] as Uint8Array)).toEqual({ result: Apply.abort })
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
    expect(offerTo(app, { ...snapshot, metadata, hash: sha256(metadata) }, appHash)).toBe(Offer.accept)
    const answers = forgedChunks.map((chunk, index) => applyTo(app, index, chunk, `liar${index % 3}`))
    expect(answers.slice(0, -1)).toEqual(answers.slice(0, -1).map(() => accept))
    expect(answers.at(-1)).toEqual({ result: Apply.rejectSnapshot, rejectSenders: ['liar0', 'liar1', 'liar2'] })
    expect(one.picture()).toEqual(before)
    expect(offerTo(app, snapshot, appHash)).toBe(Offer.accept)
    for (const [index, chunk] of chunks.entries()) expect(applyTo(app, index, chunk)).toEqual(accept)
    expect(one.store.appHash()).toEqual(appHash)
    one.store.close()
  })

  test('what the disk has no room for is not begun, and more records than were announced are not written', () => {
    const one = living()
    const { app } = one.chain
    const honest = decodeMetadata(snapshot.metadata) as SnapshotMetadata
    const offer = (records: number): number => {
      const metadata = encodeMetadata({ ...honest, records })
      return offerTo(app, { ...snapshot, metadata, hash: sha256(metadata) }, appHash)
    }
    expect(offer(2 ** 50)).toBe(Offer.reject)
    const why = expect.stringMatching(/^it may take \d+ bytes of disk, and \d+ are free$/)
    expect(one.log).toEqual([{ fields: { height: 10, why }, message: 'a snapshot was refused' }])
    expect(existsSync(`${one.home}.restore`)).toBe(false)
    expect(offer(3)).toBe(Offer.accept)
    const answers = chunks.map((chunk, index) => applyTo(app, index, chunk, 'liar'))
    const rejected = answers.findIndex(({ result }) => result === Apply.rejectSnapshot)
    expect(answers[rejected]).toEqual({ result: Apply.rejectSnapshot, rejectSenders: ['liar'] })
    expect(rejected).toBeLessThan(chunks.length - 1)
    one.store.close()
  })

  test.each(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])(
    'one that fills the disk nevertheless (%s) is removed, and the next one is taken',
    (code) => {
      const one = living()
      const { app } = one.chain
      const before = one.picture()
      const apply = () => chunks.map((chunk, index) => applyTo(app, index, chunk)).at(-1)
      jest.spyOn(one.store, 'replaceBy').mockImplementationOnce(() => {
        throw Object.assign(new Error('database or disk is full'), { code })
      })
      expect(offerTo(app, snapshot, appHash)).toBe(Offer.accept)
      expect(apply()).toEqual({ result: Apply.rejectSnapshot })
      expect(one.log.at(-1)).toEqual({ fields: { height: 10 }, message: 'a snapshot takes more than the free disk' })
      expect(one.picture()).toEqual(before)
      expect(offerTo(app, snapshot, appHash)).toBe(Offer.accept)
      expect(apply()).toEqual(accept)
      expect(one.store.appHash()).toEqual(appHash)
      one.store.close()
    },
  )

  test('one for which not even an empty database has room is refused, and the next one is taken', () => {
    const one = living()
    const { app } = one.chain
    const before = one.picture()
    const exec = jest.spyOn(Database.prototype, 'exec').mockImplementationOnce(() => {
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    })
    expect(offerTo(app, snapshot, appHash)).toBe(Offer.reject)
    exec.mockRestore()
    expect(one.log).toEqual([{ fields: { height: 10 }, message: 'a snapshot takes more than the free disk' }])
    expect(existsSync(`${one.home}.restore`)).toBe(false)
    expect(one.picture()).toEqual(before)
    expect(offerTo(app, snapshot, appHash)).toBe(Offer.accept)
    one.store.close()
  })

  test('without a place for snapshots none is listed and none taken', async () => {
    const { app } = new TestChain()
    expect([listSnapshots(app), await loadChunk(app, snapshot, 0), offerTo(app, snapshot, appHash)]).toEqual([
      [],
      new Uint8Array(0),
      Offer.reject,
    ])
    expect(applyTo(app, 0, chunks[0] as Uint8Array)).toEqual({ result: Apply.abort })
  })
})
