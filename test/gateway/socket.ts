import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'

/** The node's websocket: accepts every subscription, and `tell` sends a new block's header to all of them. */
export function serveSubscriptions(server: Server) {
  const open = new Set<WebSocket>()
  new WebSocketServer({ server }).on('connection', (socket) => {
    // The only message that comes is the subscription: answering whatever comes first is enough.
    socket.once('message', () => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }))
      open.add(socket)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
  })
  const say = (text: string) => {
    for (const socket of open) socket.send(text)
  }
  const tell = (height: number) => {
    const header = { height: String(height) }
    say(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { data: { type: 'x', value: { header } } } }))
  }
  const drop = () => {
    for (const socket of open) socket.terminate()
  }
  return { tell, say, drop }
}
