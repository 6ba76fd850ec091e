import { subscribe, type Subscription } from './events.ts'
import type { Target } from './job.ts'

/** Tells of transactions that are in a block, by events that carry whole blocks: for loads that wait for them. */
export interface LandedWatch extends Subscription {
  /** Resolves when this transaction, in base64, is in a block. To be asked for before it is sent. */
  landed(tx: string): Promise<void>
}

interface NewBlock {
  readonly block: { readonly data: { readonly txs: readonly string[] } }
}

/** Begins to watch; resolves when the node has accepted the subscription. */
export async function watchLanded(target: Target): Promise<LandedWatch> {
  const waiting = new Map<string, () => void>()
  const { close } = await subscribe<NewBlock>(target, 'NewBlock', ({ block }) => {
    for (const tx of block.data.txs) {
      waiting.get(tx)?.()
      waiting.delete(tx)
    }
  })
  return {
    landed: (tx) =>
      new Promise((done) => {
        waiting.set(tx, done)
      }),
    close,
  }
}
