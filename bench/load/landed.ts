import { subscribe } from './events.ts'
import type { Target } from './job.ts'

interface NewBlock {
  readonly block: { readonly data: { readonly txs: readonly string[] } }
}

/**
 * Begins to watch for transactions that are in a block, by events that carry whole blocks: for loads that wait for them.
 * Resolves when the node has accepted the subscription.
 */
export async function watchLanded(target: Target) {
  const waiting = new Map<string, () => void>()
  const { close } = await subscribe<NewBlock>(target, 'NewBlock', ({ block }) => {
    for (const tx of block.data.txs) {
      waiting.get(tx)?.()
      waiting.delete(tx)
    }
  })
  return {
    /** Resolves when this transaction, in base64, is in a block. To be asked for before it is sent. */
    landed: (tx: string) =>
      new Promise<void>((done) => {
        waiting.set(tx, done)
      }),
    close,
  }
}
