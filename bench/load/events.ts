import type { Target } from './job.ts'
import { openWebSocket, textFrame } from './websocket.ts'

/**
 * Subscribes to events of one kind (`NewBlock`) until it is closed; resolves when the node has accepted. `onValue` gets
 * the value of each event, as CometBFT prints it, and when it came.
 */
export async function subscribe<V>({ host, port }: Target, event: string, onValue: (value: V, atMs: number) => void) {
  const { promise: accepted, resolve: accept } = Promise.withResolvers<void>()
  const socket = await openWebSocket(host, port, {
    onMessage: (text) => {
      const atMs = performance.now()
      const { result } = JSON.parse(text.toString()) as { readonly result?: { readonly data?: { readonly value: V } } }
      if (result?.data === undefined) accept()
      else onValue(result.data.value, atMs)
    },
    onDrain: () => undefined,
  })
  socket.write(
    textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { query: `tm.event='${event}'` } })),
  )
  await accepted
  return { close: socket.close }
}
