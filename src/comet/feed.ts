import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from './errors.ts'
import { type HeightWatch, longer, PAUSE_MS_MIN, watchHeights } from './heights.ts'
import type { NodeRpc } from './rpc.ts'
import type { NodeBlock, NodeBlockResults } from './wire.ts'

/**
 * A committed block with its results; `results[i]` belongs to `txs[i]`. `appHash` is the state before the block, as
 * headers have it.
 */
export type FeedBlock = NodeBlock & Pick<NodeBlockResults, 'results' | 'events' | 'validatorUpdates'>

/**
 * Told at each change. `connected`: the subscription stands. `lost`: heights the node has no more (pruned) and that
 * were passed over. `reason`: why the connection ended, or why a block could not be read; it is tried again.
 */
export type FeedState = { connected: boolean; head: number; lost?: { from: number; to: number }; reason?: string }

/**
 * `from`: first height wanted; left out, the one after the head at the start. `onBlock` gets every height once, in
 * order, and never two at a time: a promise it returns is waited for. It must not throw; if it does, the feed ends and
 * `done` rejects with what it threw. `pollMs` (default 2,000): how often the node is asked for its height while no
 * event comes.
 */
export type FeedOptions = {
  from?: number
  onBlock: (block: FeedBlock) => void | Promise<void>
  /** Told of a committed height before its block is read; not of every one. */
  onHeight?: (height: number) => void
  onState?: (state: FeedState) => void
  pollMs?: number
}

/** A running feed. */
export type BlockFeed = {
  /** The head when the feed began, once the node has answered; blocks are delivered from there. */
  ready: Promise<number>
  /** Ends when the feed does: after `close`, or with what `onBlock` threw. */
  done: Promise<void>
  /**
   * The last height delivered, or passed over as lost; the head at the start before the first. 0 while the node has not
   * answered.
   */
  head: () => number
  /** True while the subscription stands. Blocks also come without, by polling. */
  connected: () => boolean
  /**
   * Stops; no block is delivered after it resolves. Waits for an `onBlock` under way, so do not await it from inside
   * one.
   */
  close: () => Promise<void>
}

const READ_AHEAD = 8
/** One waiter; a ring without one is kept for the next. */
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

/** What one feed knows. `target`: the highest height known to be committed. `head`: see BlockFeed. */
type Progress = { head: number; target: number; startHead: number }

type Feeding = {
  rpc: NodeRpc
  options: FeedOptions
  progress: Progress
  news: ReturnType<typeof bell>
  closing: AbortSignal
  tell: (more: Pick<FeedState, 'lost' | 'reason'>) => void
}

/** `promise`, or undefined as soon as `signal` is aborted. */
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
 * Passes over heights the node no longer has. A chain that begins above 1 has nothing to lose below its first block.
 */
const skipPruned = async ({ rpc, options, progress, tell }: Feeding): Promise<void> => {
  const { earliestHeight } = await rpc.status()
  if (earliestHeight <= progress.head + 1 || earliestHeight > progress.target) return
  const lost = { from: progress.head + 1, to: earliestHeight - 1 }
  progress.head = lost.to
  if (progress.startHead > 0 || options.from !== undefined) tell({ lost })
}

/** The node's height at the start, however long it takes to answer; 0 when the feed is closed first. */
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

/** Hands over block after block until the feed is closed, reading up to READ_AHEAD blocks at once. */
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
      // Whoever awaits it below sees the error; until then it must not count as unhandled.
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
 * Delivers every committed block from the start on, each once and in order, whatever happens to the connection or the
 * node in between. Heights are learnt from one subscription and, while it is silent or gone, by polling; blocks and
 * results are read by height, so a gap is closed by the same way as a live block comes. Never gives up: a node that is
 * away is tried until `close`.
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
