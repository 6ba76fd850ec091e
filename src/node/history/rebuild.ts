import { isNodeError } from '../../comet/errors.ts'
import type { NodeRpc } from '../../comet/rpc.ts'
import { foundBlock } from './executed.ts'
import type { HistoryBlock } from './block.ts'
import type { AtHeight, HistorySpan, HistoryWriter } from './file.ts'

/** What one transaction of the index takes: so many blocks, or the blocks that reach so many bytes of transactions. */
const BATCH_BLOCKS = 100
const BATCH_BYTES = 4 * 1024 * 1024

/** How many blocks the node is asked for at a time. */
const ASKED = 4

interface Rebuild {
  readonly index: HistoryWriter
  readonly rpc: Pick<NodeRpc, 'status' | 'block' | 'blockResults'>
  /** Where an empty index begins: the height of the state. */
  readonly head: number
  readonly onProgress: (span: HistorySpan) => void
}

/** The lowest block that the node has: it may prune at any moment. */
const earliestOf = async (rpc: Rebuild['rpc']): Promise<number> => Math.max(1, (await rpc.status()).earliestHeight)

/** Reads a block; undefined when the node has pruned it meanwhile. */
async function readBlock(rpc: Rebuild['rpc'], height: number): Promise<HistoryBlock | undefined> {
  try {
    return foundBlock(await rpc.block(height), await rpc.blockResults(height))
  } catch (error) {
    if (isNodeError(error, 'NotFound') && height < (await earliestOf(rpc))) return undefined
    throw error
  }
}

/** Reads the blocks below and with `to`, as many as go into one batch, in the order of their heights. */
async function readBatch(rpc: Rebuild['rpc'], earliest: number, to: number): Promise<readonly AtHeight[]> {
  const blocks: AtHeight[] = []
  for (let [height, bytes] = [to, 0]; height >= earliest && blocks.length < BATCH_BLOCKS && bytes < BATCH_BYTES; ) {
    const heights = Array.from({ length: Math.min(ASKED, height - earliest + 1) }, (_, at) => height - at)
    const read = await Promise.all(heights.map((one) => readBlock(rpc, one)))
    for (const [at, block] of read.entries()) {
      if (block === undefined) return blocks.toReversed()
      blocks.push([heights[at] as number, block])
      bytes += block.txs.reduce((sum, tx) => sum + tx.length, 0)
    }
    height -= heights.length
  }
  return blocks.toReversed()
}

/**
 * Adds the blocks below those that an index holds, down to the lowest one that the node has and that the index's own node
 * does not remove again. Both may go on meanwhile: the thread of the index adds blocks at the other end. What was added
 * stays when this is broken off. Resolves with how many blocks were added. Throws the NodeErrors of `rpc`.
 */
export async function rebuildHistory({ index, rpc, head, onProgress }: Rebuild): Promise<number> {
  for (let added = 0; ; ) {
    const earliest = Math.max(await earliestOf(rpc), index.lowest())
    const to = (index.span()?.first ?? head + 1) - 1
    if (to < earliest) return added
    const blocks = await readBatch(rpc, earliest, to)
    // It does not fit when the node has pruned or begun anew meanwhile.
    if (blocks.length === 0 || !index.add(blocks)) continue
    added += blocks.length
    onProgress(index.span() as HistorySpan)
  }
}
