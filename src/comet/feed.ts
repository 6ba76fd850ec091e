import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from './errors.ts'
import { type HeightWatch, longer, PAUSE_MS_MIN, watchHeights } from './heights.ts'
import type { NodeRpc } from './rpc.ts'
import type { NodeBlock, NodeBlockResults } from './wire.ts'

/**
 * A committed block with its results; `results[i]` belongs to `txs[i]`. As in the header, `appHash` is that of the
 * state before the block.
 */
export type FeedBlock = NodeBlock & Pick<NodeBlockResults, 'results' | 'events' | 'validatorUpdates'>

/**
 * The state of a feed, reported at each change. `connected`: the subscription is open. `lost`: heights that were
 * skipped because the node has pruned them. `reason`: why the connection ended or a block could not be read; the feed
 * tries again.
 */
export type FeedState = { connected: boolean; head: number; lost?: { from: number; to: number }; reason?: string }

/**
 * `from`: the first height to deliver; by default the one after the head at the start. `onBlock` receives every height
 * once, in order and one at a time: the feed waits for a promise that it returns. If it throws, the feed ends and
 * `done` rejects with its error. `pollMs` (default 2,000): how often the node is asked for its height while no event
 * comes.
 */
export type FeedOptions = {
  from?: number
  onBlock: (block: FeedBlock) => void | Promise<void>
  /** Receives a committed height before its block is read. Some heights are left out. */
  onHeight?: (height: number) => void
  onState?: (state: FeedState) => void
  pollMs?: number
}

/** A running feed. */
export type BlockFeed = {
  /** Resolves with the head at the start, once the node has answered. */
  ready: Promise<number>
  /** Settles when the feed ends: it resolves after `close`, and rejects with what `onBlock` threw. */
  done: Promise<void>
  /**
   * The last height that was delivered or skipped as lost; before the first, the head at the start. 0 until the node
   * has answered.
   */
  head: () => number
  /** True while the subscription is open. Without it blocks are found by polling. */
  connected: () => boolean
  /**
   * Stops the feed. It waits for a running `onBlock`, so do not await it inside of one; no block is delivered after it
   * resolves.
   */
  close: () => Promise<void>
}

const READ_AHEAD = 8
/** Wakes its one waiter; a ring that comes while nobody waits is kept for the next wait. */
const bell = () => {
  let rung = false
  let wake = () => {}
  return {
    ring: () => {
      rung = true
      wake()
    },
    wait: async (): Promise<void> => {
      if (!rung)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      rung = false
    },
  }
}

const readBlock = async (rpc: NodeRpc, height: number): Promise<FeedBlock> => {
  const [block, { results, events, validatorUpdates }] = await Promise.all([
    rpc.block(height),
    rpc.blockResults(height),
  ])
  if (results.length !== block.txs.length)
    throw new Error(`block ${height}: ${block.txs.length} transactions, ${results.length} results`)
  return { ...block, results, events, validatorUpdates }
}

/** The progress of a feed. `target`: the highest height known to be committed. `head`: see BlockFeed. */
type Progress = { head: number; target: number; startHead: number }

type Feeding = {
  rpc: NodeRpc
  options: FeedOptions
  progress: Progress
  news: ReturnType<typeof bell>
  closing: AbortSignal
  tell: (more: Pick<FeedState, 'lost' | 'reason'>) => void
}

/** Waits for `promise`; resolves with undefined as soon as `signal` is aborted. */
const unlessClosed = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  let stop = () => {}
  const closed = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
    signal.addEventListener('abort', stop)
  })
  if (signal.aborted) stop()
  return Promise.race([promise, closed]).finally(() => signal.removeEventListener('abort', stop))
}

/**
 * Skips heights that the node has pruned. Heights below the first block of a chain that begins above 1 do not count as
 * lost.
 */
const skipPruned = async ({ rpc, options, progress, tell }: Feeding): Promise<void> => {
  const { earliestHeight } = await rpc.status()
  if (earliestHeight <= progress.head + 1 || earliestHeight > progress.target) return
  const lost = { from: progress.head + 1, to: earliestHeight - 1 }
  progress.head = lost.to
  if (progress.startHead > 0 || options.from !== undefined) tell({ lost })
}

/** Waits for the node's height, however long it takes to answer; 0 when the feed is closed first. */
const findStart = async ({ rpc, closing, tell }: Feeding): Promise<number> => {
  for (let pauseMs = PAUSE_MS_MIN; !closing.aborted; pauseMs = longer(pauseMs)) {
    try {
      return (await unlessClosed(rpc.committedHeight(), closing)) ?? 0
    } catch (error) {
      tell({ reason: reasonOf(error) })
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {})
    }
  }
  return 0
}

/** Delivers block after block until the feed is closed, reading up to READ_AHEAD blocks at once. */
const deliver = async (feeding: Feeding): Promise<void> => {
  const { rpc, options, progress, news, closing, tell } = feeding
  const ahead = new Map<number, Promise<FeedBlock>>()
  let pauseMs = PAUSE_MS_MIN
  while (!closing.aborted) {
    if (progress.head >= progress.target) {
      await news.wait()
      continue
    }
    const next = progress.head + 1
    for (let height = next; height <= Math.min(progress.target, progress.head + READ_AHEAD); height++) {
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
      tell({ reason: reasonOf(error) })
      await skipPruned(feeding).catch(() => {})
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {})
      pauseMs = longer(pauseMs)
      continue
    }
    if (block === undefined) return
    ahead.delete(next)
    pauseMs = PAUSE_MS_MIN
    await options.onBlock(block)
    progress.head = next
  }
}

/**
 * Delivers every committed block, once and in order, whatever happens to the connection or the node. Heights come from
 * one subscription and, while it is silent or gone, from polling. Blocks and results are read by height, live ones and
 * missed ones alike. A node that is away is tried until `close`.
 */
export const startBlockFeed = (rpc: NodeRpc, options: FeedOptions): BlockFeed => {
  const { from, onState = () => {}, pollMs = 2_000 } = options
  const progress: Progress = { head: 0, target: 0, startHead: 0 }
  const news = bell()
  const closing = new AbortController()
  let watch: HeightWatch | undefined
  const connected = () => watch?.connected() ?? false
  const tell = (more: Pick<FeedState, 'lost' | 'reason'>) =>
    onState({ connected: connected(), head: progress.head, ...more })
  const onHeight = (height: number) => {
    if (height <= progress.target) return
    progress.target = height
    options.onHeight?.(height)
    news.ring()
  }
  let isReady: (head: number) => void = () => {}
  const ready = new Promise<number>((resolve) => {
    isReady = resolve
  })
  const run = async () => {
    const feeding = { rpc, options, progress, news, closing: closing.signal, tell }
    progress.startHead = await findStart(feeding)
    progress.head = from === undefined ? progress.startHead : from - 1
    progress.target = progress.startHead
    isReady(progress.startHead)
    if (closing.signal.aborted) return
    watch = watchHeights(rpc, {
      pollMs,
      onHeight,
      onState: (_, reason) => tell(reason === undefined ? {} : { reason }),
    })
    try {
      await deliver(feeding)
    } finally {
      watch.close()
    }
  }
  const done = run()
  const close = async () => {
    closing.abort()
    news.ring()
    await done.catch(() => {})
  }
  return { ready, done, head: () => progress.head, connected, close }
}
