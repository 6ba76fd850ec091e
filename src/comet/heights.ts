import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeRpc } from './rpc.ts'
import { type Subscription, subscribeToHeaders } from './subscription.ts'

/** First and longest pause between tries, in ms; each is twice the one before. */
export const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 5_000

/** The pause after `pauseMs`. */
export const longer = (pauseMs: number): number => Math.min(PAUSE_MS_MAX, pauseMs * 2)

/**
 * `onHeight` hears of every committed height known, by event or by poll, in any order. `onState`: the subscription
 * stands or ended.
 */
export type HeightHandlers = {
  pollMs: number
  onHeight: (height: number) => void
  onState: (connected: boolean, reason?: string) => void
}

/** `close` is at once; no handler is called after it. */
export type HeightWatch = { connected: () => boolean; close: () => void }

/**
 * Holds one subscription to `rpc.url`, and opens it again with growing pauses (0.1 to 5 s) whenever it ends. A
 * subscription that is silent while the node's height moves is ended too.
 */
export const watchHeights = (rpc: NodeRpc, { pollMs, onHeight, onState }: HeightHandlers): HeightWatch => {
  const closing = new AbortController()
  let subscription: Subscription | undefined
  let connected = false
  let pauseMs = PAUSE_MS_MIN
  let heard = 0
  let heardAtMs = 0
  let reconnect: NodeJS.Timeout | undefined
  const connect = () => {
    subscription = subscribeToHeaders(rpc.url, {
      onOpen: () => {
        connected = true
        pauseMs = PAUSE_MS_MIN
        heardAtMs = Date.now()
        onState(true)
        void ask()
      },
      onHeight: (height) => {
        heard = height
        heardAtMs = Date.now()
        onHeight(height)
      },
      onClose: (reason) => {
        connected = false
        if (closing.signal.aborted) return
        onState(false, reason)
        reconnect = setTimeout(connect, pauseMs)
        pauseMs = longer(pauseMs)
      },
    })
  }
  const ask = async () => {
    const askedAtMs = Date.now()
    const height = await rpc.committedHeight().catch(() => 0)
    if (closing.signal.aborted || height === 0) return
    onHeight(height)
    // An event on its way when the node was asked is no sign of a dead socket, hence the whole pollMs of silence.
    if (connected && height > heard && askedAtMs - heardAtMs > pollMs) subscription?.close()
  }
  const poll = async () => {
    while (!closing.signal.aborted) {
      if (!connected || Date.now() - heardAtMs > pollMs) await ask()
      await sleep(connected ? pollMs : Math.min(pollMs, 500), undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  connect()
  void poll()
  const close = () => {
    closing.abort()
    clearTimeout(reconnect)
    subscription?.close()
    connected = false
  }
  return { connected: () => connected, close }
}
