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
export interface Waiter {
  /** Resolves with the block that holds the transaction; undefined when cancelled or the tracker is closed. */
  readonly included: Promise<Inclusion | undefined>
  readonly cancel: () => void
}

/** Tells by hash which transactions are in the blocks of the feed. */
export type Tracker = ReturnType<typeof createTracker>

/** Creates a tracker without waiters. Unbounded: the sender counts what is under way. */
export function createTracker() {
  const waiting = new EventEmitter<Record<string, [Inclusion | undefined]>>().setMaxListeners(0)
  let closed = false
  return {
    /**
     * Waits for upper-case hex `hash`. Any number may wait for one hash. Register before the broadcast, or the block
     * may be missed.
     */
    wait: (hash: string): Waiter => {
      const { promise, resolve } = Promise.withResolvers<Inclusion | undefined>()
      const cancel = (): void => {
        waiting.off(hash, resolve)
        resolve(undefined)
      }
      if (closed) cancel()
      else waiting.once(hash, resolve)
      return { included: promise, cancel }
    },
    /** Resolves the waiters of a block's transactions. */
    onBlock: ({ height, txs, results }: Pick<FeedBlock, 'height' | 'txs' | 'results'>): void => {
      if (waiting.eventNames().length === 0) return
      for (const [index, bytes] of txs.entries()) {
        const result = results[index]
        if (result !== undefined) waiting.emit(txHash(bytes), { height, result })
      }
    },
    /** How many hashes are waited for. */
    size: (): number => waiting.eventNames().length,
    /** Ends all that wait, and those that come later. */
    close: (): void => {
      closed = true
      for (const hash of waiting.eventNames()) waiting.emit(hash, undefined)
    },
  }
}
