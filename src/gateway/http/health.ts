import { reasonOf } from '../../comet/errors.ts'
import type { FeedBlock } from '../../comet/feed.ts'
import type { NodeRpc } from '../../comet/rpc.ts'
import type { Chain } from '../chain.ts'
import { STALLED_INTERVAL_MS_MAX, STALLED_INTERVALS, STALLED_MS_MIN } from './limits.ts'

/** A chain that makes no blocks. `stalledMs`: how long ago its last block was seen. */
export interface Stall {
  readonly stalledMs: number
  readonly height: number
}

/** The age of the head as this gateway sees it: block times lag behind the clock, and a clock may be wrong. */
export type HeadWatch = ReturnType<typeof watchHead>

type Seen = Pick<FeedBlock, 'height' | 'timeMs'>

/** How many block intervals are remembered. Their median counts, so that one long pause changes nothing. */
const INTERVALS_KEPT = 5

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] ?? 0

/** Returns how old the head may be when the blocks came at these intervals, in ms, at least `minMs`; see watchHead. */
export const stalledAfterMs = (intervalsMs: readonly number[], minMs: number = STALLED_MS_MIN): number =>
  Math.max(minMs, STALLED_INTERVALS * Math.min(STALLED_INTERVAL_MS_MAX, middle(intervalsMs)))

/**
 * Watches the head. The chain counts as stalled `afterMs` after its last block, or never when that is 0; when it
 * is left out, after STALLED_INTERVALS of its recent block intervals, but STALLED_MS_MIN at least. `nowMs`: a clock
 * that only goes forward.
 */
export function watchHead(afterMs?: number, nowMs: () => number = () => performance.now()) {
  let seenMs = nowMs()
  let height = 0
  let intervals: readonly number[] = []
  let last: Seen | undefined
  const limit = (): number => (afterMs === undefined ? stalledAfterMs(intervals) : afterMs || Infinity)
  return {
    /** To be called with the head when the feed begins, from when on a block is due, and with each committed height. */
    onHeight: (at: number): void => {
      height = at
      seenMs = nowMs()
    },
    /** To be called with each block, for the time from block to block. */
    onBlock: (block: Seen): void => {
      if (last?.height === block.height - 1)
        intervals = [...intervals, block.timeMs - last.timeMs].slice(-INTERVALS_KEPT)
      last = block
    },
    /** The time since the last block was seen, or since the start while none was, in ms. */
    ageMs: (): number => nowMs() - seenMs,
    /** Returns the stall, or undefined while there is none. */
    stall: (): Stall | undefined => {
      const stalledMs = nowMs() - seenMs
      return stalledMs < limit() ? undefined : { stalledMs: Math.floor(stalledMs), height }
    },
  }
}

/**
 * Tells the watch where the chain stands and how fast its blocks came before, so that a slow chain does not count as
 * stalled. Never rejects.
 */
export async function beginWatch(watch: HeadWatch, rpc: NodeRpc, head: number): Promise<void> {
  watch.onHeight(head)
  const blocks = await Promise.all([rpc.block(head - 1), rpc.block(head)]).catch(() => [])
  for (const block of blocks) watch.onBlock(block)
}

/** Describes a stall for callers and operators. */
export const stallReason = ({ stalledMs, height }: Stall): string =>
  `the chain has made no block for ${Math.floor(stalledMs / 1000)} s${height === 0 ? '' : `: the last one is ${height}`}`

const LOG_MS = 1000

/** Logs the beginning and the end of each stall, until the function that it returns is called. */
export function logStalls(
  watch: HeadWatch,
  log: { readonly warn: (about: object, message: string) => void },
): () => void {
  let before: Stall | undefined
  const timer = setInterval(() => {
    const stall = watch.stall()
    if (stall !== undefined && before === undefined) log.warn(stall, stallReason(stall))
    if (stall === undefined && before !== undefined) log.warn(before, 'the chain makes blocks again')
    before = stall
  }, LOG_MS).unref()
  return () => clearInterval(timer)
}

/** Whether transactions and queries can be served, and why not. */
export type Readiness =
  | { readonly ready: true; readonly height: number }
  | { readonly ready: false; readonly reason: string }

const no = (reason: string): Readiness => ({ ready: false, reason })

/**
 * Ready: the node answers and has caught up, the feed is connected, blocks come, and the application has answered a
 * query at height 1 or above.
 */
export async function readiness({ rpc, feed, query, stall }: Chain): Promise<Readiness> {
  try {
    const { catchingUp, latestHeight } = await rpc.status()
    if (catchingUp) return no(`the node is catching up, it is at height ${latestHeight}`)
    if (!feed.connected()) return no('the subscription to the node is down')
    const stalled = stall()
    if (stalled !== undefined) return no(stallReason(stalled))
    const { height } = await query('/governance/params')
    return height >= 1 ? { ready: true, height } : no('the chain has no block yet')
  } catch (error) {
    return no(reasonOf(error))
  }
}
