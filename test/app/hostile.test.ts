/** What strangers write into requests, against the application: each gets an ordinary refusal, and nothing throws. */
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { decodeRequest } from '../../src/abci/wire.ts'
import { ApplySnapshotChunkResult, OfferSnapshotResult } from '../../src/abci/types.ts'
import type {
  ApplySnapshotChunkRequest,
  LoadSnapshotChunkRequest,
  LoadSnapshotChunkResponse,
  OfferSnapshotRequest,
  QueryRequest,
} from '../../src/abci/types.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { assertGenesisLimits } from '../../src/app/genesis.ts'
import { GenesisError } from '../../src/modules/genesis.ts'
import { queryEntries, tables } from '../../src/modules/registry.ts'
import { openOffered } from '../../src/store/snapshot/folder.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { QUERY_DATA_BYTES_MAX, QUERY_PATH_MAX } from '../../src/app/query.ts'
import { account, appStateOf, CHAIN_ID, GENESIS_TIME, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { requestFrame } from '../abci/peer.ts'
import { bytes, number } from '../abci/wireBytes.ts'
import { snapshotNode } from '../support/snapshotNodes.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('hostile')
const genesis = {
  accounts: [{ address: account(1).address, balance: tokens(1000) }],
  candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(100) }],
}
const { chain, store, log } = snapshotNode(folder, { interval: 3 })

beforeAll(() => {
  chain.init(genesis)
  chain.advanceTo(3)
})
afterAll(() => {
  store.close()
  remove()
})

/** A request for a chunk as the server reads it from the wire. */
function chunkRequest(height: bigint, format: bigint, chunk: bigint): LoadSnapshotChunkRequest {
  const members = [height, format, chunk].map((value, at) => number(at + 1, value))
  return (decodeRequest(bytes(14, Buffer.concat(members))) as { request: LoadSnapshotChunkRequest }).request
}

describe('Query', () => {
  const heights = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -1, 4, 10 ** 15]
  const paths = [...queryEntries.map(({ path }) => path), '/store/params/max_vals/0', '/batch', '/no/such/path', '']
  test.each(paths)('%s at a height that is none is refused with a code and a log', (path) => {
    for (const height of heights) {
      expect([height, chain.abciQuery(path, height, true)]).toEqual([
        height,
        {
          code: 20,
          log: `Invalid parameter: height: expected 0 to the head 3, got ${height}`,
          height: 3,
        },
      ])
    }
  })

  test('a path at the limit is looked up, and one above it is refused by its length', () => {
    expect(chain.abciQuery(`/${'x'.repeat(QUERY_PATH_MAX - 1)}`)).toMatchObject({ code: 4 })
    expect(chain.abciQuery('x'.repeat(QUERY_PATH_MAX + 1))).toMatchObject({
      code: 20,
      log: 'Invalid parameter: path: expected at most 1000 characters, got 1001',
    })
  })

  test('data above its limit is refused by its length', () => {
    const query = (length: number) =>
      chain.app.query({ path: '/batch', data: new Uint8Array(length), height: 0, prove: false })
    expect(query(QUERY_DATA_BYTES_MAX)).toMatchObject({
      code: 20,
      log: expect.stringContaining('expected a JSON array'),
    })
    expect(query(QUERY_DATA_BYTES_MAX + 1)).toMatchObject({
      code: 20,
      log: 'Invalid parameter: data: expected at most 65536 bytes, got 65537',
    })
  })

  const notUtf8 = ['/\ufffd', '/store/params/\ufffd/0', '/accounts/\ufffd', '/governance/params?\ufffd']
  test.each(notUtf8)('the path %j, which was not UTF-8, is refused', (path) => {
    expect(chain.abciQuery(path)).toMatchObject({
      code: 20,
      log: expect.stringMatching(/^Invalid parameter: path: expected UTF-8, got "/),
    })
  })

  test.each(['\0', '/store/params/\0/0', '/store//', '/store/params', '/%ff', '?'])(
    'the path %j is refused',
    (path) => {
      const { code = 0, log: why = '' } = chain.abciQuery(path)
      expect([[4, 20].includes(code), why.length > 0, why.length < 1000]).toEqual([true, true, true])
    },
  )

  const noList = { code: 20, log: 'Invalid parameter: data: expected a JSON array of 1 to 16 paths' }
  test.each<[data: ArrayLike<number>, answer: object]>([
    [[], noList],
    [[0xff], noList],
    [utf8('[{}]'), noList],
    [utf8('['.repeat(100_000)), { code: 20, log: 'Invalid parameter: data: expected at most 65536 bytes, got 100000' }],
    [utf8(JSON.stringify(Array<string>(16).fill('\ufffd'))), { code: 0 }],
  ])('data of any kind is answered', (data, answer) => {
    const request: QueryRequest = { path: '/batch', data: Uint8Array.from(data), height: 0, prove: false }
    expect(chain.app.query(request)).toMatchObject(answer)
  })
})

describe('LoadSnapshotChunk', () => {
  const load = async (height: bigint, format = 1n, chunk = 0n): Promise<Uint8Array | undefined> =>
    ((await chain.app.loadSnapshotChunk(chunkRequest(height, format, chunk))) as LoadSnapshotChunkResponse).chunk

  test('of any height, format and chunk that is not there is empty', async () => {
    const many = [0n, 1n, 2n, 2n ** 32n - 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]
    for (const height of many) expect(await load(height)).toEqual(new Uint8Array(0))
    for (const format of [0n, 2n, 2n ** 32n - 1n]) expect(await load(3n, format)).toEqual(new Uint8Array(0))
    for (const chunk of [1000n, 2n ** 32n - 1n]) expect(await load(3n, 1n, chunk)).toEqual(new Uint8Array(0))
    expect((await load(3n))?.length).toBe(300)
    expect(log).toEqual([])
  })

  test('a thousand at once are answered, in order, with few files open', async () => {
    const openFiles = (): number => readdirSync('/proc/self/fd').length
    const before = openFiles()
    let most = before
    const looking = setInterval(() => {
      most = Math.max(most, openFiles())
    })
    const chunks = await Promise.all(Array.from({ length: 1000 }, (_, at) => load(3n, 1n, BigInt(at % 3))))
    clearInterval(looking)
    expect(most - before).toBeLessThan(32)
    const first = await Promise.all([0n, 1n, 2n].map((at) => load(3n, 1n, at)))
    for (const [at, chunk] of chunks.entries()) expect(chunk).toEqual(first[at % 3])
  })

  test('a file that the disk does not give is an empty chunk and a line in the log', async () => {
    const { chain: broken, store: own, home, log: lines } = snapshotNode(folder, { interval: 3 })
    const path = `${home}.snapshots`
    broken.init(genesis)
    broken.advanceTo(3)
    const first = join(path, '3-1', '000000.chunk')
    rmSync(first)
    expect(await broken.app.loadSnapshotChunk({ height: 3, format: 1, chunk: 0 })).toEqual({ chunk: new Uint8Array(0) })
    expect(lines).toEqual([])
    mkdirSync(first)
    expect(await broken.app.loadSnapshotChunk({ height: 3, format: 1, chunk: 0 })).toEqual({ chunk: new Uint8Array(0) })
    expect(lines).toHaveLength(1)
    rmSync(path, { recursive: true })
    writeFileSync(path, 'a file where the folder should be')
    expect(broken.app.listSnapshots({})).toEqual({ snapshots: [] })
    expect(await broken.app.loadSnapshotChunk({ height: 3, format: 1, chunk: 0 })).toEqual({ chunk: new Uint8Array(0) })
    expect(lines).toHaveLength(3)
    own.close()
  })
})

test('ListSnapshots reads the metadata of a snapshot once, and follows what comes and goes', () => {
  const path = join(folder, 'listed')
  writeSnapshot(store, tables, path, 300)
  const offered = openOffered(path)
  const [first] = offered.list()
  chmodSync(join(path, '3-1', 'metadata'), 0o000)
  writeFileSync(join(path, '3-1', 'metadata.gone'), '')
  expect(offered.list()[0]).toBe(first)
  rmSync(join(path, '3-1'), { recursive: true })
  expect(offered.list()).toEqual([])
})

describe('snapshots of a peer', () => {
  const huge = {
    height: Number.MAX_SAFE_INTEGER,
    format: 1,
    chunks: 2 ** 32 - 1,
    hash: new Uint8Array(0),
    metadata: new Uint8Array(0),
  }
  const offers: readonly OfferSnapshotRequest[] = [
    { appHash: new Uint8Array(0) },
    { snapshot: huge, appHash: new Uint8Array(0) },
    { snapshot: { ...huge, format: 2 ** 32 - 1 }, appHash: new Uint8Array(100) },
    { snapshot: { ...huge, metadata: new Uint8Array(4_000_001) }, appHash: new Uint8Array(32) },
    { snapshot: { ...huge, metadata: Uint8Array.from({ length: 300 }, () => 0xff) }, appHash: new Uint8Array(32) },
  ]
  test.each(offers)('offer %#: rejected', (offer) => {
    const { result } = chain.app.offerSnapshot(offer) as { result: number }
    const { reject, rejectFormat, rejectSender } = OfferSnapshotResult
    expect([reject, rejectFormat, rejectSender]).toContain(result)
  })

  test.each<ApplySnapshotChunkRequest>([
    { index: 0, chunk: new Uint8Array(0), sender: '' },
    { index: 2 ** 32 - 1, chunk: new Uint8Array(9), sender: '\ufffd' },
  ])('a chunk that nobody asked for ends state sync, not the node', (request) => {
    expect(chain.app.applySnapshotChunk(request)).toEqual({ result: ApplySnapshotChunkResult.abort })
  })
})

const noTransactions = [new Uint8Array(0), Uint8Array.of(0xff), new Uint8Array(200_000).fill(0xff)].map((tx) => [tx])
test.each(noTransactions)('CheckTx of what is no transaction has code 2', (tx) => {
  for (const type of [0, 1, 2, -1, 2 ** 31 - 1]) expect(chain.check(tx, type)).toMatchObject({ code: 2 })
})

describe('a node without a state, whose CometBFT looks for a snapshot', () => {
  const empty = new TestChain()

  test.each(noTransactions)('CheckTx has code 32', (tx) => {
    for (const type of [0, 1])
      expect(empty.check(tx, type)).toEqual({ code: 32, log: 'unavailable: this node has no state yet' })
  })

  test.each([...queryEntries.map(({ path }) => path), '/batch', '/store/accounts/x', 'x'])(
    '%s is answered',
    async (path) => {
      const query = { path, data: utf8('/status'), height: 0, prove: false }
      expect(await empty.app.query(query)).toMatchObject({ height: 0 })
    },
  )

  test('CheckTx judges as soon as there is one, before the first block is committed', () => {
    const begun = new TestChain()
    begun.check(new Uint8Array(1))
    begun.init(genesis)
    expect(begun.check(new Uint8Array(1))).toMatchObject({ code: 2 })
  })
})

describe('InitChain', () => {
  const init =
    (maxBytes: number, initialHeight = 1, pubKeyTypes?: readonly string[]) =>
    () =>
      new TestChain().app.initChain({
        time: { seconds: GENESIS_TIME, nanos: 0 },
        chainId: CHAIN_ID,
        validators: [],
        initialHeight,
        appStateBytes: utf8(JSON.stringify(appStateOf(genesis))),
        consensusParams: {
          block: { maxBytes, maxGas: -1 },
          ...(pubKeyTypes === undefined ? {} : { validator: { pubKeyTypes: [...pubKeyTypes] } }),
        },
      })
  const sizes = [-1, 0, 64 * 1024 * 1024 + 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
  test.each(sizes)('blocks of %s bytes are refused', (maxBytes) => {
    expect(init(maxBytes)).toThrow(GenesisError)
    expect(init(maxBytes)).toThrow(
      `genesis consensus_params: block.max_bytes: expected 1 to 67108864 (64 MiB), got ${maxBytes}`,
    )
  })
  test.each([1, 64 * 1024 * 1024])('blocks of %s bytes are taken, and told to CometBFT as they are', (maxBytes) => {
    expect(init(maxBytes)()).toMatchObject({ consensusParams: { block: { maxBytes } } })
  })
  test.each([[['secp256k1']], [['ed25519', 'secp256k1']], [['ed25519', 'ed25519']], [[]]])(
    'validator keys of the types %j are refused: no candidacy could have them',
    (pubKeyTypes) => {
      const given = init(1_000_000, 1, pubKeyTypes)
      expect(given).toThrow(GenesisError)
      expect(given).toThrow(
        `genesis consensus_params: validator.pub_key_types: expected ["ed25519"] alone, got ${JSON.stringify(pubKeyTypes)}`,
      )
    },
  )
  test('validator keys that are no list are refused', () => {
    const limits = { blockMaxBytes: 1_000_000, pubKeyTypes: 'ed25519', initialHeight: 1 }
    expect(() => assertGenesisLimits(limits)).toThrow('expected ["ed25519"] alone, got "ed25519"')
  })
  test('ed25519 alone is taken', () => {
    expect(init(1_000_000, 1, ['ed25519'])()).toMatchObject({ validators: [expect.anything()] })
  })
  test.each([10 ** 9 + 1, Number.MAX_SAFE_INTEGER, -1])('the initial height %s is refused', (initialHeight) => {
    expect(init(1_000_000, initialHeight)).toThrow(/^genesis initial_height: expected 0 to 1000000000, got /)
  })
})

test('the frame of the largest block has room for 10,000 votes', () => {
  const vote = {
    validator: { address: Buffer.alloc(20, 0xff), power: Number.MAX_SAFE_INTEGER },
    signedLastBlock: true,
    blockIdFlag: 2,
  }
  const beside = requestFrame('finalizeBlock', {
    decidedLastCommit: { round: 2 ** 31 - 1, votes: Array<object>(10_000).fill(vote) },
    hash: Buffer.alloc(32),
    height: Number.MAX_SAFE_INTEGER,
    time: { seconds: 253_402_300_799, nanos: 999_999_999 },
    nextValidatorsHash: Buffer.alloc(32),
    proposerAddress: Buffer.alloc(20),
  })
  expect(beside.length).toBeLessThan(512 * 1024)
})
