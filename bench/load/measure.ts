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

/**
 * From sending each transaction to its block's event, in ms. The n-th that was sent is the n-th in a block: the mempool
 * is a queue.
 */
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
 * What a load came to: the rate is that of whole blocks between the first and the last event within the measured time.
 * Where fewer than BLOCKS_MIN came in it, from the first sending to the last block: between two late blocks a slow
 * application would look fast.
 */
export function measure(seen: Seen): Measured {
  const full = seen.blocks.filter(({ txs }) => txs > 0)
  const measured = full.filter(({ atMs }) => atMs >= seen.fromMs && atMs <= seen.toMs)
  const isFew = measured.length < BLOCKS_MIN
  const [begin, ...counted] = isFew
    ? [{ atMs: seen.sentAt[0] ?? 0, txs: 0 }, ...full]
    : (measured as [SeenBlock, ...SeenBlock[]])
  const last = counted.at(-1)
  const txs = counted.reduce((sum, block) => sum + block.txs, 0)
  const latencies = latenciesOf(seen)
  return {
    perSecond: last === undefined ? 0 : (txs / (last.atMs - begin.atMs)) * 1000,
    blockTxs: counted.length === 0 ? 0 : txs / counted.length,
    p50Ms: percentileOf(latencies, 0.5),
    p99Ms: percentileOf(latencies, 0.99),
    sent: seen.sentAt.length,
    refused: seen.refused,
    committed: seen.blocks.reduce((sum, block) => sum + block.txs, 0),
  }
}
