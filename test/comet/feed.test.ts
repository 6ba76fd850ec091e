import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type FeedBlock, type FeedOptions, type FeedState, startBlockFeed } from '../../src/comet/feed.ts'
import { openNodeRpc } from '../../src/comet/rpc.ts'
import { until } from '../../bench/until.ts'
import { kvstoreNode, relayTo } from './support.ts'

let node: Awaited<ReturnType<typeof kvstoreNode>>
beforeAll(async () => {
  node = await kvstoreNode()
})
afterAll(() => node.remove())

/** A feed that keeps what it is given. */
const follow = (url: string, options: Partial<FeedOptions> = {}, rpc = openNodeRpc(url)) => {
  const blocks: FeedBlock[] = []
  const states: FeedState[] = []
  const onBlock = (block: FeedBlock) => {
    blocks.push(block)
  }
  const onState = (state: FeedState) => {
    states.push(state)
  }
  const feed = startBlockFeed(rpc, { pollMs: 300, onBlock, onState, ...options })
  const close = async () => {
    await feed.close()
    rpc.close()
  }
  const more = (count: number) => {
    const want = feed.head() + count
    return until(() => feed.head() >= want)
  }
  return { feed, blocks, states, close, more }
}

const heights = (blocks: readonly FeedBlock[]) => blocks.map((block) => block.height)
const run = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

describe('feed', () => {
  test('begins at the block after the head and gives each height once and in order', async () => {
    const { feed, blocks, close, more } = follow(node.url)
    const start = await feed.ready
    await more(5)
    await close()
    expect(heights(blocks)).toEqual(run(start + 1, blocks.length))
    expect(feed.head()).toBe(start + blocks.length)
  })

  test('a block carries its transactions, their results and its header', async () => {
    const { feed, blocks, close } = follow(node.url)
    await feed.ready
    const tx = Buffer.from('feed=1')
    await node.rpc.broadcastTxSync(tx)
    await until(() => blocks.some((block) => block.txs.length > 0))
    await close()
    const block = blocks.find((one) => one.txs.length > 0) as FeedBlock
    expect(Buffer.from(block.txs[0] as Uint8Array).toString()).toBe('feed=1')
    expect(block.results).toEqual([{ code: 0, log: '', info: '', data: new Uint8Array(), gasUsed: 0 }])
    expect(block).toMatchObject({ hash: (await node.rpc.block(block.height)).hash, chainId: 'feed-test' })
  })

  test.each([
    ['', undefined],
    [', also by a feed that began before the first block', 0],
  ])('heights that the node does not have are told as lost, once, and passed over%s', async (_, first) => {
    const late = await kvstoreNode(50, 1_000)
    const relay = await relayTo(node.rpcPort)
    const rpc = openNodeRpc(relay.url)
    let told = first
    const committedHeight = async (): Promise<number> => {
      const height = told ?? (await rpc.committedHeight())
      told = undefined
      return height
    }
    const { feed, blocks, close, more, states } = follow(relay.url, {}, { ...rpc, committedHeight })
    const start = await feed.ready
    if (first !== undefined) expect(start).toBe(first)
    await more(2)
    relay.to(late.rpcPort)
    relay.drop()
    await until(() => feed.head() >= 1_003)
    await close()
    relay.close()
    await late.remove()
    const before = heights(blocks).filter((height) => height < 1_000)
    expect(before).toEqual(run(start + 1, before.length))
    expect(states.flatMap(({ lost }) => lost ?? [])).toEqual([{ from: start + before.length + 1, to: 999 }])
    expect(heights(blocks).slice(before.length)).toEqual(run(1_000, blocks.length - before.length))
  })

  test('a dropped socket is opened again and loses no height', async () => {
    const relay = await relayTo(node.rpcPort)
    const { feed, blocks, close, more, states } = follow(relay.url)
    const start = await feed.ready
    for (let round = 0; round < 3; round++) {
      await until(() => feed.connected())
      await more(2)
      relay.drop()
      await until(() => states.filter((state) => !state.connected && state.reason !== undefined).length > round)
    }
    await until(() => feed.connected())
    await more(2)
    await close()
    relay.close()
    expect(relay.websockets()).toBeGreaterThanOrEqual(4)
    expect(heights(blocks)).toEqual(run(start + 1, blocks.length))
  })

  test('a socket that is open but silent is noticed, and heights come meanwhile by polling', async () => {
    const relay = await relayTo(node.rpcPort)
    const { feed, blocks, close, more } = follow(relay.url)
    const start = await feed.ready
    await until(() => feed.connected())
    await more(2)
    relay.stall()
    await until(() => relay.websockets() >= 2 && feed.connected())
    await more(2)
    await close()
    relay.close()
    expect(heights(blocks)).toEqual(run(start + 1, blocks.length))
  })

  test('the silence between slow blocks ends no subscription', async () => {
    const slow = await kvstoreNode(1_500)
    const relay = await relayTo(slow.rpcPort)
    const { feed, close, more } = follow(relay.url)
    await feed.ready
    await more(3)
    expect(relay.websockets()).toBe(1)
    await close()
    relay.close()
    await slow.remove()
  })

  test('kill -9 and a restart of the node lose no height', async () => {
    const { feed, blocks, close, more } = follow(node.url)
    const start = await feed.ready
    await more(3)
    await node.kill()
    await until(() => !feed.connected())
    await node.start()
    await until(() => feed.connected())
    await more(5)
    await close()
    expect(heights(blocks)).toEqual(run(start + 1, blocks.length))
  })

  test('a feed that begins before the node waits for it, and one that never sees a node closes at once', async () => {
    const relay = await relayTo(1)
    const { feed, close, states } = follow(relay.url)
    await until(() => states.length > 0)
    expect(feed.connected()).toBe(false)
    await close()
    relay.close()
    expect(feed.head()).toBe(0)
  })

  test('another chain behind the address ends the feed, whether it has fewer blocks, more, or later ones', async () => {
    const younger = await kvstoreNode()
    const relay = await relayTo(node.rpcPort)
    const to = async (port: number) => {
      const { feed, blocks, close, more } = follow(relay.url)
      await feed.ready
      await more(2)
      relay.to(port)
      relay.drop()
      const why = await feed.done.catch(({ message }: Error) => message)
      expect(why).toBe(`the node follows another chain than the one of block ${blocks.at(-1)?.height}`)
      expect(heights(blocks)).toEqual(run(blocks[0]?.height ?? 0, blocks.length))
      expect(new Set(blocks.slice(1).map(({ parentHash }, at) => parentHash === blocks[at]?.hash))).toEqual(
        new Set([true]),
      )
      await close()
    }
    expect((await younger.rpc.status()).latestHeight).toBeLessThan((await node.rpc.status()).latestHeight)
    const pruned = await kvstoreNode(50, 10_000, 'another')
    await to(younger.rpcPort)
    await to(node.rpcPort)
    // Of its first block no parent is known. Its name tells.
    await to(pruned.rpcPort)
    relay.close()
    await Promise.all([younger.remove(), pruned.remove()])
  })

  test('a node that is behind on the same chain is waited for, as one from a copy of last week', async () => {
    const relay = await relayTo(node.rpcPort)
    const rpc = openNodeRpc(node.url)
    let behind = 0
    let asked = 0
    const status = async () => {
      const now = await rpc.status()
      if (behind === 0) return now
      asked += 1
      const { height: latestHeight, timeMs: latestTimeMs } = await rpc.block(behind)
      return { ...now, latestHeight, latestTimeMs }
    }
    const committedHeight = async () => behind || (await rpc.committedHeight())
    const { feed, blocks, close, more } = follow(relay.url, {}, { ...rpc, url: relay.url, status, committedHeight })
    const start = await feed.ready
    await more(3)
    behind = start
    relay.to(1)
    relay.drop()
    await until(() => asked > 1)
    behind = 0
    await more(3)
    await close()
    relay.close()
    expect(heights(blocks)).toEqual(run(start + 1, blocks.length))
  })

  test('another chain is noticed by a feed that got no block yet', async () => {
    const slow = await kvstoreNode(3_000, 1_000)
    const relay = await relayTo(slow.rpcPort)
    await until(async () => (await slow.rpc.committedHeight()) === 1_000)
    const { feed, close } = follow(relay.url)
    expect(await feed.ready).toBe(1_000)
    relay.to(node.rpcPort)
    relay.drop()
    await expect(feed.done).rejects.toMatchObject({
      message: 'the node follows another chain than the one of block 1000',
    })
    await close()
    relay.close()
    await slow.remove()
  })

  test('what onBlock throws ends the feed and comes out of done', async () => {
    const { feed, close } = follow(node.url, {
      onBlock: () => {
        throw new Error('reader broke')
      },
    })
    await expect(feed.done).rejects.toMatchObject({ message: 'reader broke' })
    expect(feed.connected()).toBe(false)
    await close()
  })
})
