import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeRpc } from './rpc.ts'

/** A websocket subscription. */
export type Subscription = { close: () => void }

/**
 * `onOpen`: the node has accepted the subscription. `onHeight`: the block of this height is committed. `onClose`: the
 * subscription has ended; called exactly once.
 */
export type SubscriptionHandlers = {
  onOpen: () => void
  onHeight: (height: number) => void
  onClose: (reason: string) => void
}

const ANSWER_MS = 10_000

const heightOf = (result: unknown): number => {
  const header = (result as { data?: { value?: { header?: { height?: unknown } } } } | undefined)?.data?.value?.header
  return Number(header?.height ?? 0)
}

/**
 * Subscribes to the headers of new blocks at the node `url` (http://host:port). It tries once: when the subscription
 * ends or cannot begin, `onClose` is called. A node that has not accepted it within 10 s counts as ended.
 * NewBlockHeader is used instead of NewBlock, although both are sent after Commit, because it stays small: a slow
 * reader is never cut off for the size of blocks, and every block is read in the same way, live or late.
 */
export const subscribeToHeaders = (url: string, { onOpen, onHeight, onClose }: SubscriptionHandlers): Subscription => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/$/, '')}/websocket`)
  let ended = false
  const end = (reason: string) => {
    if (ended) return
    ended = true
    clearTimeout(timer)
    socket.close()
    onClose(reason)
  }
  const timer = setTimeout(() => end(`the node did not accept a subscription in ${ANSWER_MS} ms`), ANSWER_MS)
  socket.addEventListener('open', () => {
    socket.send(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { query: "tm.event='NewBlockHeader'" } }),
    )
  })
  socket.addEventListener('message', ({ data }) => {
    if (ended) return
    let message: { error?: { message?: unknown; data?: unknown }; result?: unknown }
    try {
      message = JSON.parse(String(data))
    } catch {
      return end('the node sent something that is not JSON')
    }
    if (message.error) return end(`${message.error.message}: ${message.error.data}`)
    const height = heightOf(message.result)
    if (height > 0) return onHeight(height)
    clearTimeout(timer)
    onOpen()
  })
  socket.addEventListener('error', () => end('the connection failed'))
  socket.addEventListener('close', () => end('the connection closed'))
  return { close: () => end('closed by us') }
}

/** The first and the longest pause between tries, in ms. Each is twice the one before. */
export const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 5_000

/** The pause that follows `pauseMs`. */
export const longer = (pauseMs: number): number => Math.min(PAUSE_MS_MAX, pauseMs * 2)

/**
 * `onHeight` receives every committed height that becomes known, by event or by poll, in any order. `onState`: the
 * subscription was accepted or has ended.
 */
export type HeightHandlers = {
  pollMs: number
  onHeight: (height: number) => void
  onState: (connected: boolean, reason?: string) => void
}

/** `close` takes effect at once: no handler is called after it. */
export type HeightWatch = { connected: () => boolean; close: () => void }

/**
 * Keeps one subscription to `rpc.url`, and opens it again after a growing pause (0.1 to 5 s) whenever it ends. It also
 * ends a subscription that is silent while the node's height moves.
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
    // An event may have been on its way while the node was asked, so only silence for all of pollMs means a dead
    // socket.
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
