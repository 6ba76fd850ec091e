import { describe, expect, test } from '@jest/globals'
import { txHash } from '../../src/tx/envelope.ts'
import { COMET_VERSIONS } from '../../tools/testing/cometVersions.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { checkAcknowledged } from './load.ts'
import { drawManifest, KINDS, pairOf, quorumOf, VALIDATORS } from './manifest.ts'
import { createChainBook } from './watch.ts'

const limits = { hasLinks: true, versions: COMET_VERSIONS }
const SEEDS = Array.from({ length: 50 }, (_, at) => at + 1)
const nodesOf = (count: number) =>
  drawManifest(1, limits)
    .nodes.slice(0, 1)
    .flatMap((node) => Array(count).fill(node))

describe('a manifest', () => {
  test('of a seed is the same each time, and 50 of them have everything in them', () => {
    const drawn = SEEDS.map((seed) => drawManifest(seed, limits))
    expect(SEEDS.map((seed) => drawManifest(seed, limits))).toEqual(drawn)
    const happened = drawn.flatMap(({ perturbations }) => perturbations)
    for (const kind of KINDS) expect(happened.filter((one) => one.kind === kind).length).toBeGreaterThanOrEqual(10)
    for (const { perturbations } of drawn) expect([2, 3, 4]).toContain(perturbations.length)
    const nodes = drawn.flatMap((one) => one.nodes)
    expect(new Set(nodes.map(({ comet }) => comet))).toEqual(new Set(COMET_VERSIONS))
    expect(new Set(nodes.map(({ abci }) => abci)).size).toBe(2)
    expect(new Set(drawn.map(({ initialHeight }) => initialHeight))).toEqual(new Set([1, 1000]))
    expect(new Set(drawn.map(({ topology }) => topology)).size).toBe(2)
    expect(drawn.some(({ nodes: { length } }) => length > VALIDATORS)).toBe(true)
    expect(drawn.some(({ loss }) => loss > 0)).toBe(true)
    const delays = drawn.flatMap(({ latencyMs }) => [...latencyMs.values()])
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(50)
    expect(Math.max(...delays)).toBeLessThanOrEqual(300)
  })

  test('keeps to what the machine can do', () => {
    const drawn = SEEDS.map((seed) => drawManifest(seed, { hasLinks: false, versions: ['0.38.25'] }))
    const happened = drawn.flatMap(({ perturbations }) => perturbations)
    expect(happened.filter(({ kind }) => kind === 'disconnect')).toEqual([])
    expect(new Set(drawn.flatMap(({ nodes }) => nodes.map(({ comet }) => comet)))).toEqual(new Set(['0.38.25']))
  })

  test('knows who goes on without some nodes', () => {
    const mesh = { topology: 'mesh', nodes: nodesOf(5) } as const
    expect(quorumOf(mesh, [3])).toEqual([0, 1, 2, 4])
    expect(quorumOf(mesh, [4])).toEqual([0, 1, 2, 3])
    expect(quorumOf(mesh, [0, 3])).toEqual([])
    const line = { topology: 'line', nodes: nodesOf(5) } as const
    expect(quorumOf(line, [0])).toEqual([1, 2, 3, 4])
    expect(quorumOf(line, [3])).toEqual([0, 1, 2])
    expect(quorumOf(line, [1])).toEqual([])
    expect(pairOf(3, 1)).toBe(pairOf(1, 3))
  })
})

describe('what nodes tell of a chain is wrong when', () => {
  const head = (height: number, appHash = 'A') => ({ height, appHash })

  test('a height falls', () => {
    const book = createChainBook(2)
    book.takeHead(0, head(5))
    book.takeHead(1, head(4, 'B'))
    book.takeHead(0, head(5))
    expect(() => book.takeHead(0, head(4, 'B'))).toThrow('node 0 went back from height 5 to 4')
    expect(book.heights()).toEqual([5, 4])
  })

  test('two app hashes of a height differ, but not before the first block', () => {
    const book = createChainBook(2)
    book.takeHead(0, head(0))
    book.takeHead(1, head(0, 'B'))
    book.takeHead(0, head(5))
    expect(() => book.takeHead(1, head(5, 'B'))).toThrow('height 5: the app hash of node 1 is B, that of node 0 A')
  })

  test('two headers of a height differ', () => {
    const book = createChainBook(2)
    book.takeHeader(0, 1, 'A')
    book.takeHeader(0, 2, 'B')
    book.takeHeader(1, 2, 'B')
    expect(book.compared()).toBe(1)
    expect(() => book.takeHeader(1, 1, 'B')).toThrow('height 1: the header of node 1 is B, that of node 0 A')
  })
})

describe('a transaction that was acknowledged', () => {
  const tx = new Uint8Array([1, 2, 3])
  const hash = txHash(tx)

  /** Holds it against a node that has the blocks from 5 on, with the transaction in block 6 alone. */
  async function check(height: number): Promise<void> {
    const answers: Readonly<Record<string, object>> = {
      '/status': { result: { sync_info: { earliest_block_height: '5' } } },
      '/block?height=5': { result: { block: { data: { txs: null } } } },
      '/block?height=6': { result: { block: { data: { txs: [Buffer.from(tx).toString('base64')] } } } },
    }
    const { url: rpc, close } = await serveCalls((_, { url = '' }) => answers[url] ?? { error: {} })
    try {
      await checkAcknowledged({ home: 'node0', owner: '', gateway: '', rpc }, [{ hash, height }], new Map())
    } finally {
      await close()
    }
  }

  test('is in its block, or that block is removed', async () => {
    await check(6)
    await check(4)
  })

  test('is lost when its block is another one, or is missing', async () => {
    await expect(check(5)).rejects.toThrow(`${hash} was acknowledged in block 5, and is not in that of node0`)
    await expect(check(7)).rejects.toThrow('node0 does not answer /block?height=7')
  })
})
