import { percentileOf } from '../stats.ts'
import type { SeenBlock } from './blocks.ts'
import type { Measured } from './job.ts'

interface Seen {
  readonly blocks: readonly SeenBlock[]
  readonly sentAt: readonly number[]
  readonly refused: number
  readonly fromMs: number
  readonly toMs: number
}

/** From sending each transaction to its block's event, in ms. The n-th that was sent is the n-th in a block: the mempool is a queue. */
function latenciesOf({ blocks, sentAt, fromMs }: Seen): number[] {
  const latencies: number[] = []
  let place = 0
  for (const { atMs, txs } of blocks) {
    for (let n = 0; n < txs && place < sentAt.length; n++, place++) {
      const at = sentAt[place] as number
      if (at >= fromMs) latencies.push(atMs - at)
    }
  }
  return latencies
}

const BLOCKS_MIN = 3

/**
 * What a load came to: the rate is that of whole blocks between the first and the last event within the measured time, or of all the
 * load's blocks where a busy machine made fewer than BLOCKS_MIN in it.
 */
export function measure(seen: Seen): Measured {
  const full = seen.blocks.filter(({ txs }) => txs > 0)
  const measured = full.filter(({ atMs }) => atMs >= seen.fromMs && atMs <= seen.toMs)
  const within = measured.length < BLOCKS_MIN ? full : measured
  const [first, last] = [within[0], within.at(-1)]
  const txs = within.slice(1).reduce((sum, block) => sum + block.txs, 0)
  const latencies = latenciesOf(seen)
  return {
    perSecond: first === undefined || last === undefined || first === last ? 0 : txs / (last.atMs - first.atMs) * 1000,
    blockTxs: within.length < 2 ? 0 : txs / (within.length - 1),
    p50Ms: percentileOf(latencies, 0.5), p99Ms: percentileOf(latencies, 0.99),
    sent: seen.sentAt.length, refused: seen.refused, committed: seen.blocks.reduce((sum, block) => sum + block.txs, 0),
  }
}
