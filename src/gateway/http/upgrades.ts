import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { SOCKET_CLOSE_MS, SOCKET_MESSAGE_BYTES_MAX, SOCKET_PIECES_MAX } from './limits.ts'
import { createTally } from './tally.ts'

/** Makes a request the websocket that it asks for, and hands it over, or refuses it; false when it asks for none. */
export type Upgrade = (request: FastifyRequest, reply: FastifyReply, open: (socket: WebSocket) => void) => boolean

/**
 * True for a request whose Upgrade header asks for a websocket. Any other one is answered as if it had none (RFC 9110,
 * section 7.8): the HTTP client of Java offers h2c with every request, and Node reads no body behind an upgrade. Node
 * before 24.9 does not ask.
 */
export const asksForWebsocket = ({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/**
 * Sends requests for websockets through the hooks and routes of a server, which must not have any yet, so that they are
 * guarded and counted as every other request is. One that gets an answer instead of a websocket is cut off behind it.
 * When the server closes, the websockets are closed, and whoever does not say so too is cut off. An address may have
 * `ofAddressMax` websockets, behind a proxy too, whose connections have no bound of their own.
 */
export function routeUpgrades(app: FastifyInstance, ofAddressMax: number): Upgrade {
  const server = new WebSocketServer({
    noServer: true,
    // One frame of a connection a turn. Else it may bring 2 MiB of pongs or empty messages in one, which take 0.1 s.
    allowSynchronousEvents: false,
    maxPayload: SOCKET_MESSAGE_BYTES_MAX,
    maxFragments: SOCKET_PIECES_MAX,
    maxBufferedChunks: SOCKET_PIECES_MAX,
  })
  const asked = new WeakMap<IncomingMessage, { readonly socket: Duplex; readonly head: Buffer }>()
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node no longer listens for errors here, and ws does not yet.
    socket.on('error', () => socket.destroy())
    const response = new ServerResponse(request)
    try {
      response.assignSocket(socket as Parameters<typeof response.assignSocket>[0])
    } catch {
      // A request before it on the connection is not answered yet, and its answer has the connection. Node throws.
      socket.destroy()
      return
    }
    // Node no longer tells an answer that its connection takes more, nor looks at a connection whose answer has left.
    socket.on('drain', () => response.emit('drain'))
    response.once('finish', () => socket.destroy())
    asked.set(request, { socket, head })
    app.routing(request, response)
  })
  app.addHook('preClose', async () => {
    for (const socket of server.clients) socket.close(1001, 'the gateway stops')
    setTimeout(() => {
      for (const socket of server.clients) socket.terminate()
    }, SOCKET_CLOSE_MS).unref()
  })
  const ofAddress = createTally()
  return ({ raw, caller: address }, reply, open) => {
    const upgrade = asked.get(raw)
    if (upgrade === undefined) return false
    asked.delete(raw)
    if (ofAddress.of(address) >= ofAddressMax) {
      void reply.code(429).send({ error: `more than ${ofAddressMax} websockets from one address` })
      return true
    }
    reply.hijack()
    server.handleUpgrade(raw, upgrade.socket, upgrade.head, (socket) => {
      ofAddress.add(address)
      socket.once('close', () => ofAddress.remove(address))
      // ws closes it with a code that says what was wrong. A connection that is cut off at once often loses that frame.
      socket.on('error', () => setTimeout(() => socket.terminate(), SOCKET_CLOSE_MS).unref())
      open(socket)
    })
    return true
  }
}
