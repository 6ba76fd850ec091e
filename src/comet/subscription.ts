/** A websocket subscription that can be ended. */
export type Subscription = { close: () => void }

/**
 * `onOpen`: the node has accepted the subscription. `onHeight`: that block is committed. `onClose`: ended, called
 * exactly once.
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
 * Subscribes to the headers of new blocks at the node `url` (http://host:port). One try: when it ends, for whatever
 * reason and also when it never began, `onClose` is called and the caller may try again. A node that has not accepted
 * in 10 s counts as ended. Why NewBlockHeader and not NewBlock: both are sent after Commit, but this one stays small,
 * so a slow reader is never cut off for the size of blocks, and blocks come by one way only, live or late.
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
