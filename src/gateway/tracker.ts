import type { FeedBlock } from '../comet/feed.ts'
import type { TxResult } from '../comet/wire.ts'
import { txHash } from '../tx/envelope.ts'

/** A transaction that is in a block. */
export interface Inclusion {
  readonly height: number
  readonly result: TxResult
}

/** One that waits for a transaction. Exactly one of `landed` and `cancel` ends it. */
export interface Waiter {
  /** Resolves with the block that holds the transaction; undefined when cancelled or the tracker is closed. */
  readonly landed: Promise<Inclusion | undefined>
  readonly cancel: () => void
}

/** Tells by hash which transactions are in the blocks of the feed. */
export interface Tracker {
  /**
   * Waits for upper-case hex `hash`. Any number may wait for one hash. Register before the broadcast, or the block may
   * be missed.
   */
  readonly wait: (hash: string) => Waiter
  /** Resolves the waiters of a block's transactions. */
  readonly onBlock: (block: Pick<FeedBlock, 'height' | 'txs' | 'results'>) => void
  /** How many wait. */
  readonly size: () => number
  /** Ends all that wait, and those that come later. */
  readonly close: () => void
}

/** A tracker without waiters. Unbounded: the sender counts what is under way. */
export function createTracker(): Tracker {
  const waiting = new Map<string, Set<(inclusion: Inclusion | undefined) => void>>()
  let count = 0
  let closed = false
  const end = (hash: string, inclusion: Inclusion | undefined): void => {
    const resolvers = waiting.get(hash)
    if (resolvers === undefined) return
    waiting.delete(hash)
    count -= resolvers.size
    for (const resolve of resolvers) resolve(inclusion)
  }
  const wait = (hash: string): Waiter => {
    const { promise, resolve } = Promise.withResolvers<Inclusion | undefined>()
    if (closed) {
      resolve(undefined)
      return { landed: promise, cancel: () => undefined }
    }
    const resolvers = waiting.get(hash) ?? new Set()
    waiting.set(hash, resolvers.add(resolve))
    count += 1
    const cancel = (): void => {
      if (!resolvers.delete(resolve)) return
      // `end` has taken the set off the map, and counted it, when it resolved it.
      if (waiting.get(hash) === resolvers) {
        count -= 1
        if (resolvers.size === 0) waiting.delete(hash)
      }
      resolve(undefined)
    }
    return { landed: promise, cancel }
  }
  const onBlock: Tracker['onBlock'] = ({ height, txs, results }) => {
    if (waiting.size === 0) return
    for (const [place, bytes] of txs.entries()) {
      const result = results[place]
      if (result !== undefined) end(txHash(bytes), { height, result })
    }
  }
  const close = (): void => {
    closed = true
    for (const hash of [...waiting.keys()]) end(hash, undefined)
  }
  return { wait, onBlock, size: () => count, close }
}
