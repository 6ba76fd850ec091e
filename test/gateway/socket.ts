import { createHash } from 'node:crypto'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

function textFrame(text: string): Buffer {
  const body = Buffer.from(text)
  if (body.length < 126) return Buffer.concat([Buffer.from([0x81, body.length]), body])
  const head = Buffer.from([0x81, 126, 0, 0])
  head.writeUInt16BE(body.length, 2)
  return Buffer.concat([head, body])
}

/** The node's websocket: accepts every subscription, and `tell` sends a new block's header to all of them. */
export function serveSubscriptions(server: Server) {
  const open = new Set<Duplex>()
  server.on('upgrade', (request, socket: Duplex) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key'] ?? ''}${MAGIC}`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    // The only frame that comes is the subscription: answering whatever comes first is enough.
    socket.once('data', () => {
      socket.write(textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })))
      open.add(socket)
    })
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  const say = (text: string) => {
    for (const socket of open) socket.write(textFrame(text))
  }
  const tell = (height: number) => {
    const header = { height: String(height) }
    say(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { data: { type: 'x', value: { header } } } }))
  }
  const drop = () => {
    for (const socket of open) socket.destroy()
  }
  return { tell, say, drop }
}
