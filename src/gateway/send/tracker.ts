import { EventEmitter } from 'node:events'
import type { FeedBlock } from '../../comet/feed.ts'
import type { TxResult } from '../../comet/rpc.ts'
import { txHash } from '../../tx/envelope.ts'

/** A transaction that is in a block. */
export interface Inclusion {
  readonly height: number
  readonly result: TxResult
}

/** One that waits for a transaction. Exactly one of `included` and `cancel` ends it. */
export type Waiter = ReturnType<Tracker['wait']>

/** Tells by hash which transactions are in the blocks of the feed. */
export type Tracker = ReturnType<typeof createTracker>

/** Creates a tracker without waiters. Unbounded: the sender counts what is under way. */
export function createTracker() {
  /** Its events are hashes, each with the block that holds the transaction. */
  const blocks = new EventEmitter<Record<string, [Inclusion | undefined]>>().setMaxListeners(0)
  const size = (): number => blocks.eventNames().length
  let closed = false
  return {
    /**
     * Waits for upper-case hex `hash`. Any number may wait for one hash. Register before the broadcast, or the block
     * may be missed.
     */
    wait: (hash: string) => {
      const { promise, resolve } = Promise.withResolvers<Inclusion | undefined>()
      const cancel = (): void => {
        blocks.off(hash, resolve)
        resolve(undefined)
      }
      if (closed) cancel()
      else blocks.once(hash, resolve)
      return {
        /** Resolves with the block that holds the transaction; undefined when cancelled or the tracker is closed. */
        included: promise,
        cancel,
      }
    },
    /** Resolves the waiters of a block's transactions. */
    onBlock: ({ height, txs, results }: Pick<FeedBlock, 'height' | 'txs' | 'results'>): void => {
      if (size() === 0) return
      for (const [index, bytes] of txs.entries()) {
        const result = results[index]
        if (result !== undefined) blocks.emit(txHash(bytes), { height, result })
      }
    },
    size,
    /** Ends all that wait, and those that come later. */
    close: (): void => {
      closed = true
      for (const hash of blocks.eventNames()) blocks.emit(hash as string, undefined)
    },
    isClosed: (): boolean => closed,
  }
}
