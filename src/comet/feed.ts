import { setTimeout as sleep } from 'node:timers/promises'
import { parseJson } from '../base/json.ts'
import { reasonOf } from './errors.ts'
import type { BlockResults, NodeBlock, NodeRpc } from './rpc.ts'

/** A committed block with its results; `results[i]` belongs to `txs[i]`. */
export type FeedBlock = NodeBlock & BlockResults

/**
 * The state of a feed, reported at each change. `connected`: the subscription is open. `lost`: heights that were
 * skipped because the node has pruned them. `reason`: why the connection ended or a block could not be read; the feed
 * tries again.
 */
export type FeedState = { connected: boolean; head: number; lost?: { from: number; to: number }; reason?: string }

/** How a feed is started. */
export type FeedOptions = {
  /**
   * Receives every height after the head at the start, once and in order. If it throws, the feed ends and `done` rejects
   * with its error.
   */
  onBlock: (block: FeedBlock) => void
  /** Receives a committed height before its block is read. Some heights are left out. */
  onHeight?: (height: number) => void
  onState?: (state: FeedState) => void
  /** How often the node is asked for its height while no event comes. Default 2,000. */
  pollMs?: number
}

const READ_AHEAD = 8
const ACCEPT_MS_MAX = 10_000

// The first and the longest pause between tries. Each is twice the one before.
const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 5_000

const longer = (pauseMs: number): number => Math.min(PAUSE_MS_MAX, pauseMs * 2)

/** Waits `ms`, or until `signal` is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})

/** Waits for `promise`; resolves with undefined as soon as `signal` is aborted. */
const unlessClosed = async <T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  const stop = () => resolve(undefined)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return await Promise.race([promise, closed]).finally(() => signal.removeEventListener('abort', stop))
}

type Subscription = {
  /** The node has accepted the subscription. */
  onOpen: () => void
  /** The block of this height is committed. */
  onHeight: (height: number) => void
  /** The subscription has ended; called exactly once. */
  onClose: (reason: string) => void
}

/**
 * Subscribes to the headers of new blocks at the node `url`, and returns a function that ends the subscription. It
 * tries once: when the subscription ends or cannot begin, `onClose` is called. NewBlockHeader is used instead of
 * NewBlock, although both are sent after Commit, because it stays small: a slow reader is never cut off for the size of
 * blocks, and every block is read in the same way, live or late.
 */
const subscribe = (url: string, { onOpen, onHeight, onClose }: Subscription): (() => void) => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/$/, '')}/websocket`)
  let ended = false
  const end = (reason: string) => {
    if (ended) return
    ended = true
    clearTimeout(timer)
    socket.close()
    onClose(reason)
  }
  const timer = setTimeout(() => end(`the node did not accept a subscription in ${ACCEPT_MS_MAX} ms`), ACCEPT_MS_MAX)
  socket.addEventListener('open', () => {
    const params = { query: "tm.event='NewBlockHeader'" }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
  })
  socket.addEventListener('message', ({ data }) => {
    if (ended) return
    const message = (parseJson(String(data)) ?? null) as {
      error?: { message?: unknown; data?: unknown }
      result?: { data?: { value?: { header?: { height?: unknown } } } }
    } | null
    if (message === null) return end('the node sent something that is not JSON')
    if (message.error) return end(`${message.error.message}: ${message.error.data}`)
    const height = Number(message.result?.data?.value?.header?.height ?? 0)
    if (height > 0) return onHeight(height)
    clearTimeout(timer)
    onOpen()
  })
  socket.addEventListener('error', () => end('the connection failed'))
  socket.addEventListener('close', () => end('the connection closed'))
  return () => end('closed by us')
}

/**
 * A feed while it runs. `target`: the highest height known to be committed. `last`: the last block that was delivered,
 * or the head at the start if none was. It is undefined if the chain had no block then, or if the node does not have that
 * block, as after a state sync. `isReplaced`: the node follows another chain than the one of that block.
 */
type Feeding = {
  readonly rpc: NodeRpc
  readonly options: FeedOptions
  readonly closing: AbortSignal
  readonly report: (more: Pick<FeedState, 'lost' | 'reason'>) => void
  connected: boolean
  head: number
  target: number
  last: Pick<NodeBlock, 'height' | 'hash' | 'timeMs' | 'chainId'> | undefined
  isReplaced: boolean
  /** Resolves when `target` grows or the feed is closed. */
  news: PromiseWithResolvers<void>
}

const wake = (feeding: Feeding): void => {
  feeding.news.resolve()
  feeding.news = Promise.withResolvers()
}

const learnHeight = (feeding: Feeding, height: number): void => {
  if (height <= feeding.target) return
  feeding.target = height
  feeding.options.onHeight?.(height)
  wake(feeding)
}

/**
 * Looks whether a node that has fewer blocks than it had has begun anew: on one chain, a lower block is older. A
 * node that is only behind comes to the height.
 */
const lookBehind = async (feeding: Feeding): Promise<void> => {
  const { latestHeight, latestTimeMs } = await feeding.rpc.status()
  const { last } = feeding
  if (last === undefined || latestHeight >= last.height || latestTimeMs <= last.timeMs) return
  feeding.isReplaced = true
  wake(feeding)
}

/**
 * Keeps one subscription until the feed is closed, and opens it again after a growing pause whenever it ends. While it
 * is silent or gone the node is asked for its height. A subscription that has not told a height which the node had when it
 * was asked before is ended.
 */
const watchHeights = (feeding: Feeding): void => {
  const { rpc, closing, report } = feeding
  const { pollMs = 2_000 } = feeding.options
  let endSubscription = () => {}
  let pauseMs = PAUSE_MS_MIN
  let heard = 0
  let heardAtMs = 0
  // What the node had when it was asked last, whose event must be there when it is asked again.
  let due = 0
  const connect = () => {
    if (closing.aborted) return
    endSubscription = subscribe(rpc.url, {
      onOpen: () => {
        feeding.connected = true
        pauseMs = PAUSE_MS_MIN
        heardAtMs = performance.now()
        report({})
        void ask(true)
      },
      onHeight: (height) => {
        heard = height
        heardAtMs = performance.now()
        learnHeight(feeding, height)
        if (height < feeding.head) void lookBehind(feeding).catch(() => {})
      },
      onClose: (reason) => {
        feeding.connected = false
        if (closing.aborted) return
        report({ reason })
        void pause(pauseMs, closing).then(connect)
        pauseMs = longer(pauseMs)
      },
    })
  }
  const ask = async (isOpening = false) => {
    const askedAtMs = performance.now()
    const height = await rpc.committedHeight().catch(() => 0)
    if (closing.aborted || height === 0) return
    if (height < feeding.head) await lookBehind(feeding).catch(() => {})
    learnHeight(feeding, height)
    // Of what was committed before it was open, it does not tell.
    if (isOpening) heard = Math.max(heard, height)
    else if (feeding.connected && due > heard && askedAtMs - heardAtMs > pollMs) endSubscription()
    due = height
  }
  const poll = async () => {
    while (!closing.aborted) {
      if (!feeding.connected || performance.now() - heardAtMs > pollMs) await ask()
      await pause(feeding.connected ? pollMs : Math.min(pollMs, 500), closing)
    }
  }
  closing.addEventListener('abort', () => endSubscription())
  connect()
  void poll()
}

/** A block with its results. Throws an Error when the two do not fit. */
export function withResults(block: NodeBlock, outcome: BlockResults): FeedBlock {
  if (outcome.results.length !== block.txs.length)
    throw new Error(`block ${block.height}: ${block.txs.length} transactions, ${outcome.results.length} results`)
  return { ...block, ...outcome }
}

/** Reads a committed block with its results. Throws a NodeError, and an Error when the two do not fit. */
export const readBlock = async (rpc: Pick<NodeRpc, 'block' | 'blockResults'>, height: number): Promise<FeedBlock> => {
  const [block, outcome] = await Promise.all([rpc.block(height), rpc.blockResults(height)])
  return withResults(block, outcome)
}

/**
 * Skips heights that the node has pruned. Heights below the first block of a chain that begins above 1 do not count as
 * lost.
 */
const skipPruned = async (feeding: Feeding): Promise<void> => {
  const { earliestHeight } = await feeding.rpc.status()
  if (earliestHeight <= feeding.head + 1 || earliestHeight > feeding.target) return
  const lost = { from: feeding.head + 1, to: earliestHeight - 1 }
  feeding.head = lost.to
  if (lost.from > 1) feeding.report({ lost })
}

/** Waits for the node's height, however long it takes to answer; 0 when the feed is closed first. */
const findStart = async ({ rpc, closing, report }: Feeding): Promise<number> => {
  for (let pauseMs = PAUSE_MS_MIN; !closing.aborted; pauseMs = longer(pauseMs)) {
    try {
      return (await unlessClosed(rpc.committedHeight(), closing)) ?? 0
    } catch (error) {
      report({ reason: reasonOf(error) })
      await pause(pauseMs, closing)
    }
  }
  return 0
}

/** True unless the block is of another chain. Between the two there may be blocks that the node has pruned. */
const follows = (last: NonNullable<Feeding['last']>, block: NodeBlock): boolean =>
  block.chainId === last.chainId && (block.height !== last.height + 1 || block.parentHash === last.hash)

/** Delivers block after block until the feed is closed, reading up to READ_AHEAD blocks at once. */
const deliver = async (feeding: Feeding): Promise<void> => {
  const { rpc, options, closing, report } = feeding
  const ahead = new Map<number, Promise<FeedBlock>>()
  let pauseMs = PAUSE_MS_MIN
  while (!closing.aborted) {
    if (feeding.isReplaced)
      throw new Error(`the node follows another chain than the one of block ${feeding.last?.height}`)
    if (feeding.head >= feeding.target) {
      await feeding.news.promise
      continue
    }
    const next = feeding.head + 1
    for (let height = next; height <= Math.min(feeding.target, feeding.head + READ_AHEAD); height++) {
      if (ahead.has(height)) continue
      const reading = readBlock(rpc, height)
      // The error is handled where the promise is awaited below; until then it must not count as unhandled.
      reading.catch(() => {})
      ahead.set(height, reading)
    }
    let block: FeedBlock | undefined
    try {
      block = await unlessClosed(ahead.get(next) as Promise<FeedBlock>, closing)
    } catch (error) {
      ahead.clear()
      report({ reason: reasonOf(error) })
      await skipPruned(feeding).catch(() => {})
      await pause(pauseMs, closing)
      pauseMs = longer(pauseMs)
      continue
    }
    if (block === undefined) return
    ahead.delete(next)
    pauseMs = PAUSE_MS_MIN
    feeding.isReplaced ||= feeding.last !== undefined && !follows(feeding.last, block)
    if (feeding.isReplaced) continue
    options.onBlock(block)
    // No more of it, which may be many MB.
    feeding.last = { height: next, hash: block.hash, timeMs: block.timeMs, chainId: block.chainId }
    feeding.head = next
  }
}

/**
 * Delivers every committed block, once and in order, whatever happens to the connection or the node. Heights come from
 * one subscription and, while it is silent or gone, from polling. Blocks and results are read by height, live ones and
 * missed ones alike. A node that is away is tried until `close`. The feed ends when the chain behind the node is another
 * one.
 */
export const startBlockFeed = (rpc: NodeRpc, options: FeedOptions) => {
  const closing = new AbortController()
  const { promise: ready, resolve: setReady } = Promise.withResolvers<number>()
  const feeding: Feeding = {
    rpc,
    options,
    closing: closing.signal,
    report: (more) => options.onState?.({ connected: feeding.connected, head: feeding.head, ...more }),
    connected: false,
    head: 0,
    target: 0,
    last: undefined,
    isReplaced: false,
    news: Promise.withResolvers(),
  }
  const run = async () => {
    const start = await findStart(feeding)
    if (start > 0) feeding.last = await unlessClosed(rpc.block(start), closing.signal).catch(() => undefined)
    feeding.target = start
    feeding.head = start
    setReady(start)
    if (closing.signal.aborted) return
    watchHeights(feeding)
    try {
      await deliver(feeding)
    } finally {
      closing.abort()
    }
  }
  const done = run()
  return {
    /** Resolves with the head at the start, once the node has answered. */
    ready,
    /**
     * Settles when the feed ends: it resolves after `close`, and rejects with what `onBlock` threw, or with an Error when
     * the node follows another chain than the one whose blocks were delivered.
     */
    done,
    /**
     * The last height that was delivered or skipped as lost; before the first, the head at the start. 0 until the node
     * has answered.
     */
    head: () => feeding.head,
    /** True while the subscription is open. Without it blocks are found by polling. */
    connected: () => feeding.connected,
    /** Stops the feed. No block is delivered after it resolves. */
    close: async (): Promise<void> => {
      closing.abort()
      wake(feeding)
      await done.catch(() => {})
    },
  }
}

/** A running feed. */
export type BlockFeed = ReturnType<typeof startBlockFeed>
