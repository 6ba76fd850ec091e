import { subscribe } from './events.ts'
import type { Target } from './job.ts'

/** A block as its event told: when the event came, and how many transactions it carried. */
export interface SeenBlock {
  readonly height: number
  readonly atMs: number
  readonly txs: number
}

/** Watches the blocks of a node by events that carry no transactions, so that watching costs next to nothing. */
export type BlockWatch = Awaited<ReturnType<typeof watchBlocks>>

interface NewBlockEvents {
  readonly height: string
  readonly num_txs?: string
}

/** Begins to watch; resolves when the node has accepted the subscription. `onBlock` is called after each block. */
export async function watchBlocks(target: Target, onBlock: (block: SeenBlock) => void) {
  const blocks: SeenBlock[] = []
  let committed = 0
  const { close } = await subscribe<NewBlockEvents>(target, 'NewBlockEvents', (value, atMs) => {
    const block = { height: Number(value.height), atMs, txs: Number(value.num_txs ?? 0) }
    blocks.push(block)
    committed += block.txs
    onBlock(block)
  })
  return {
    blocks: blocks as readonly SeenBlock[],
    /** Transactions in all blocks seen. */
    committed: () => committed,
    close,
  }
}
