import { reasonOf } from '../comet/errors.ts'
import type { Chain } from './chain.ts'
import { stallReason } from './stall.ts'

/** Whether transactions and queries can be served, and why not. */
export type Readiness =
  | { readonly ready: true; readonly height: number }
  | { readonly ready: false; readonly reason: string }

const no = (reason: string): Readiness => ({ ready: false, reason })

/**
 * Ready: the node answers and has caught up, the feed is connected, blocks come, and the application has answered a
 * query at height 1 or above.
 */
export async function readiness({ rpc, feed, query, stall }: Chain): Promise<Readiness> {
  try {
    const { catchingUp, latestHeight } = await rpc.status()
    if (catchingUp) return no(`the node is catching up, it is at height ${latestHeight}`)
    if (!feed.connected()) return no('the subscription to the node does not stand')
    const stalled = stall()
    if (stalled !== undefined) return no(stallReason(stalled))
    const { height } = await query('/governance/params')
    return height >= 1 ? { ready: true, height } : no('the chain has no block yet')
  } catch (error) {
    return no(reasonOf(error))
  }
}
