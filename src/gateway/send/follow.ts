import { BAD_NONCE_CODE, BEHIND_MS, isInNoBlock, REBROADCAST_MS } from '../../tx/nonceQueue.ts'
import type { Address } from '../../values/address.ts'
import { WAITING_MAX } from '../http/limits.ts'
import { fewAtATime } from '../fewAtATime.ts'
import { RpcError, rpcErrors } from '../rpc/errors.ts'
import { type Broadcast, broadcast, type OnItsWay, type Outcome, type Setting } from './broadcast.ts'

interface AccountTx {
  readonly address: Address
  readonly nonce: number
  readonly bytes: Uint8Array
}

/** One that the node has taken and that waits for its block. */
export interface FollowedTx extends AccountTx, OnItsWay {
  readonly outcome: Promise<Outcome>
}

/** Resolves as the promise does, or with undefined after `ms`. PERF: an AbortSignal would make two errors for each. */
const within = <T>(promise: Promise<T>, ms: number): Promise<T | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined).unref()
    void promise.then((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })

/**
 * How often a transaction is rebroadcast because those before it are missing: after BEHIND_MS, and each next time after
 * twice as long. That is 6.2 s in all, more than REBROADCAST_MS: a node forgets what waits behind a transaction together
 * with it, and another gateway may be the one that rebroadcasts that.
 */
const GAP_TRIES = 5

/**
 * Waits for the block of what was sent. The mempool drops silently what a block has made invalid and what has waited for
 * too many blocks, so the bytes are rebroadcast, those of one account one after the other (`inTurn`); the feed skips
 * blocks that were pruned, so the hash is looked up too.
 */
async function outcomeOf(
  setting: Setting,
  { hash, state, waiter }: Broadcast,
  { address, bytes, nonce }: AccountTx,
  inTurn: ReturnType<typeof fewAtATime>,
): Promise<Outcome> {
  let isOver = false
  let gaps = 0
  // A transaction that the node knew may be in a block that has passed.
  let pauseMs = state === 'known' ? 0 : REBROADCAST_MS
  const included = waiter.included.finally(() => (isOver = true))
  const deadline = setTimeout(waiter.cancel, setting.waitMs)
  const rebroadcast = async (): Promise<Outcome | undefined> => {
    const again = await inTurn(address, async () => (isOver ? undefined : broadcast(setting, bytes))).catch(
      () => undefined,
    )
    if (again === undefined) return undefined
    if ('waiter' in again) again.waiter.cancel()
    else if (isInNoBlock(again.refused.code, again.refused.expectedNonce, nonce)) return again
    return undefined
  }
  try {
    for (;;) {
      const found =
        (await within(included, pauseMs)) ??
        (await setting.chain.findTx(hash).catch(() => undefined)) ??
        // Its block may have come while the node was asked.
        (isOver ? await included : undefined)
      if (found !== undefined) return { hash, included: found }
      if (isOver)
        throw new RpcError('notInBlock', `${rpcErrors.notInBlock.message}; ask for it with svc_getTransaction`, {
          hash,
        })
      const end = pauseMs > 0 && (await Promise.race([rebroadcast(), included]))
      const isRefused = end && 'refused' in end
      if (isRefused && (end.refused.code !== BAD_NONCE_CODE || gaps === GAP_TRIES)) return end
      pauseMs = isRefused ? BEHIND_MS * 2 ** gaps : REBROADCAST_MS
      gaps = isRefused ? gaps + 1 : 0
    }
  } finally {
    clearTimeout(deadline)
    waiter.cancel()
  }
}

/** Follows what the node has taken until it is in a block. */
export type Follower = ReturnType<typeof createFollower>

/** Creates a follower of the transactions of a gateway. */
export function createFollower(setting: Setting) {
  const byHash = new Map<string, FollowedTx>()
  const inTurn = fewAtATime(1)
  return {
    /** Returns the transaction of a hash, while it waits for its block. */
    get: (hash: string): FollowedTx | undefined => byHash.get(hash),
    follow: (sent: Broadcast, tx: AccountTx): FollowedTx => {
      const { hash, state } = sent
      const one = { ...tx, hash, state, outcome: outcomeOf(setting, sent, tx, inTurn) }
      byHash.set(hash, one)
      const forget = (): unknown => byHash.get(hash) === one && byHash.delete(hash)
      one.outcome.then(forget, forget)
      return one
    },
    /** Returns the nonce after the last one of an account that is pending; 0 when none is. */
    nextNonce: (address: Address): number =>
      [...byHash.values()].reduce((next, one) => (one.address === address ? Math.max(next, one.nonce + 1) : next), 0),
    /** Throws RpcError -32013 when no more may wait. */
    needRoom: (): void => {
      if (byHash.size >= WAITING_MAX)
        throw new RpcError('mempoolFull', `${WAITING_MAX} transactions wait at this gateway, try again later`)
    },
  }
}
