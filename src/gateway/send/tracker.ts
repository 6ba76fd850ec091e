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
  const waiting = new Map<string, Set<(inclusion: Inclusion | undefined) => void>>()
  let closed = false
  const end = (hash: string, inclusion: Inclusion | undefined): void => {
    const resolvers = waiting.get(hash) ?? []
    waiting.delete(hash)
    for (const resolve of resolvers) resolve(inclusion)
  }
  return {
    /**
     * Waits for upper-case hex `hash`. Any number may wait for one hash. Register before the broadcast, or the block
     * may be missed.
     */
    wait: (hash: string) => {
      const { promise, resolve } = Promise.withResolvers<Inclusion | undefined>()
      const resolvers = waiting.get(hash) ?? new Set()
      const cancel = (): void => {
        resolvers.delete(resolve)
        // `end` has taken the set off the map when it resolved it, and another may stand there by now.
        if (resolvers.size === 0 && waiting.get(hash) === resolvers) waiting.delete(hash)
        resolve(undefined)
      }
      if (closed) cancel()
      else waiting.set(hash, resolvers.add(resolve))
      return {
        /** Resolves with the block that holds the transaction; undefined when cancelled or the tracker is closed. */
        included: promise,
        cancel,
      }
    },
    /** Resolves the waiters of a block's transactions. */
    onBlock: ({ height, txs, results }: Pick<FeedBlock, 'height' | 'txs' | 'results'>): void => {
      if (waiting.size === 0) return
      for (const [index, bytes] of txs.entries()) {
        const result = results[index]
        if (result !== undefined) end(txHash(bytes), { height, result })
      }
    },
    /** How many hashes are waited for. */
    size: (): number => waiting.size,
    /** Ends all that wait, and those that come later. */
    close: (): void => {
      closed = true
      for (const hash of waiting.keys()) end(hash, undefined)
    },
  }
}
