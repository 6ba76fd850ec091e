import type { NodeRpc } from '../../comet/rpc.ts'
import { foundBlock } from './executed.ts'
import type { AtHeight, HistorySpan, HistoryWriter } from './file.ts'

/** What one transaction of the index takes: so many blocks, or the blocks that reach so many bytes of transactions. */
const BATCH_BLOCKS = 100
const BATCH_BYTES = 4 * 1024 * 1024

/** How many blocks the node is asked for at a time. */
const ASKED = 4

interface Rebuild {
  readonly index: HistoryWriter
  readonly rpc: Pick<NodeRpc, 'block' | 'blockResults'>
  /** The lowest block that the node has. */
  readonly earliest: number
  /** Where an empty index begins: the height of the state. */
  readonly head: number
  readonly onProgress: (span: HistorySpan) => void
}

/** Reads the blocks below and with `to`, as many as go into one batch, in the order of their heights. */
async function readBatch({ rpc, earliest }: Rebuild, to: number): Promise<readonly AtHeight[]> {
  const blocks: AtHeight[] = []
  for (let [height, bytes] = [to, 0]; height >= earliest && blocks.length < BATCH_BLOCKS && bytes < BATCH_BYTES; ) {
    const heights = Array.from({ length: Math.min(ASKED, height - earliest + 1) }, (_, at) => height - at)
    const read = await Promise.all(
      heights.map(async (one) => foundBlock(await rpc.block(one), await rpc.blockResults(one))),
    )
    for (const [at, block] of read.entries()) {
      blocks.push([heights[at] as number, block])
      bytes += block.txs.reduce((sum, tx) => sum + tx.length, 0)
    }
    height -= heights.length
  }
  return blocks.toReversed()
}

/**
 * Adds the blocks below those that an index holds, down to the lowest one that the node has. The node may go on
 * meanwhile: its own thread adds blocks at the other end. What was added stays when this is broken off. Resolves with
 * how many blocks were added. Throws the NodeErrors of `rpc`.
 */
export async function rebuildHistory(rebuild: Rebuild): Promise<number> {
  const { index, earliest, head, onProgress } = rebuild
  for (let added = 0; ; ) {
    const to = (index.span()?.first ?? head + 1) - 1
    if (to < earliest) return added
    const blocks = await readBatch(rebuild, to)
    // It does not fit when the node has pruned or begun anew meanwhile.
    if (!index.add(blocks)) continue
    added += blocks.length
    onProgress(index.span() as HistorySpan)
  }
}
