import { IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { callerAddress } from './callerAddress.ts'
import { BODY_CHUNKS_MAX, type HTTP_LIMITS, PIECE_BYTES, REQUESTS_OF_CONNECTION_MAX } from './limits.ts'
import { createTally } from './tally.ts'
import { createUnread } from './unread.ts'

type Limits = typeof HTTP_LIMITS

interface Connection {
  /** Bytes that it has taken, and for how many looks in a row it took none of those that wait. */
  taken: number
  unreadLooks: number
  /** Its request, until that is answered. A websocket is closed in its own way. */
  brings: IncomingMessage | 'websocket' | undefined
  /** Bytes that it had sent when its last request or message ended, and for how many looks in a row too many followed. */
  whole: number
  partLooks: number
  unanswered: number
}

/** Bytes of a request or message that is still unfinished. */
const partOf = ({ bytesRead }: Socket, { brings, whole }: Connection): number =>
  typeof brings === 'object' && brings.complete ? 0 : bytesRead - whole

/**
 * Cuts off a connection with too many requests. Node would still read those that follow in what has come, and make an error
 * for each: 18 ms of a turn. The 2 says that what follows is no HTTP; this property has no page in Node's documentation.
 */
function cutOff(socket: Socket & { readonly parser?: { onIncoming: () => number } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 2
  socket.destroy()
}

/**
 * Cuts off a request whose body comes in too many chunks. Each is an event and some hundred bytes of memory, however short
 * it is, and Node reads up to 2 MiB of them before it looks at another socket.
 */
function boundChunks(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return
  let count = 0
  request.push = (chunk, encoding) => {
    if (chunk === null || ++count <= BODY_CHUNKS_MAX)
      return IncomingMessage.prototype.push.call(request, chunk, encoding)
    request.socket.destroy()
    return false
  }
}

/** Bytes of a caller's ping or pong frame without its data. */
const CONTROL_BYTES = 6

/**
 * Answers callers who close their half of a connection behind their requests, and then closes the other half. Node cuts
 * them off otherwise; this property of its servers has no page in its documentation.
 */
export const allowHalfOpen = (server: Server): Server => Object.assign(server, { httpAllowHalfOpen: true })

/** The connections of a gateway. */
export type Connections = ReturnType<typeof boundConnections>

/**
 * Keeps the connections of several servers within `limits`. `isProxy` says whether many callers stand behind an address:
 * its connections are bounded only by the limit on all of them.
 */
export function boundConnections(limits: Limits, isProxy: (address: string) => boolean) {
  const { unreadMs, requestMs, partBytes } = limits
  const unread = createUnread(limits.unreadBytes)
  const open = new Map<Socket, Connection>()
  const ofAddress = createTally()
  const lookMs = Math.min(1000, unreadMs / 4)
  let isClosing = false

  const add = (socket: Socket): void => {
    const { remoteAddress } = socket
    // It has been reset already, and nobody can be counted for its requests.
    if (remoteAddress === undefined) return void socket.destroy()
    const address = callerAddress(remoteAddress)
    const isFull = ofAddress.of(address) >= limits.connectionsOfAddress && !isProxy(remoteAddress)
    if (isClosing || isFull || open.size >= limits.connections) return void socket.destroy()
    open.set(socket, { taken: 0, unreadLooks: 0, brings: undefined, whole: 0, partLooks: 0, unanswered: 0 })
    ofAddress.add(address)
    socket.once('close', () => {
      open.delete(socket)
      ofAddress.remove(address)
      unread.removeAll(socket)
    })
  }
  // Time is counted in looks: a gateway that stood still has looked once, and not served its sockets since.
  const isUnread = (socket: Socket, seen: Connection): boolean => {
    const taken = socket.bytesWritten - socket.writableLength
    // Whoever waits for an answer has nothing to read.
    seen.unreadLooks = socket.writableLength === 0 || taken !== seen.taken ? 0 : seen.unreadLooks + 1
    seen.taken = taken
    return seen.unreadLooks * lookMs > unreadMs
  }
  // Node looks after those of requests.
  const isPartLate = (socket: Socket, seen: Connection): boolean => {
    const isLong = seen.brings === 'websocket' && partOf(socket, seen) > PIECE_BYTES
    seen.partLooks = isLong ? seen.partLooks + 1 : 0
    return seen.partLooks * lookMs > requestMs
  }
  const look = (): void => {
    let bytes = 0
    for (const [socket, seen] of open) {
      if (isUnread(socket, seen) || isPartLate(socket, seen)) socket.destroy()
      else bytes += partOf(socket, seen)
    }
    for (const [socket, seen] of [...open].sort(([a, ofA], [b, ofB]) => partOf(b, ofB) - partOf(a, ofA))) {
      if (bytes <= partBytes) break
      bytes -= partOf(socket, seen)
      socket.destroy()
    }
    if (isClosing && open.size === 0) clearInterval(looking)
  }
  const looking = setInterval(look, lookMs).unref()

  return {
    unread,
    /** Leaves a connection to its websocket. */
    release: (socket: Socket, websocket: WebSocket): void => {
      const seen = open.get(socket)
      if (seen === undefined) return
      Object.assign(seen, { brings: 'websocket', whole: socket.bytesRead })
      websocket.on('message', () => {
        seen.whole = socket.bytesRead
      })
      for (const event of ['ping', 'pong'] as const)
        websocket.on(event, ({ length }) => {
          seen.whole += length + CONTROL_BYTES
        })
    },
    /**
     * Cuts off the connections whose request is not there, and those that come later; in `closeMs` all others too. Node
     * looks at how long requests take only while a server is open: they would keep it from closing for ever.
     */
    closeIdle: (): void => {
      isClosing = true
      setTimeout(() => open.forEach((_seen, socket) => socket.destroy()), limits.closeMs).unref()
      for (const [socket, { brings }] of open) if (brings !== 'websocket' && brings?.complete !== true) socket.destroy()
    },
    /**
     * Bounds the connections of a server before it listens, and hands its requests to `handler`. Node reads all requests of
     * a packet before any is answered, and looks at no other socket meanwhile: a connection with too many is cut off.
     */
    watch: (server: Server, handler: RequestListener): void => {
      server.on('connection', add)
      const take: RequestListener = (request, response) => {
        const { socket } = request
        const seen = open.get(socket)
        if (seen === undefined || socket.destroyed) return
        if (seen.unanswered === REQUESTS_OF_CONNECTION_MAX) return cutOff(socket)
        boundChunks(request)
        seen.unanswered++
        seen.brings = request
        response.once('close', () => {
          seen.unanswered--
          if (seen.brings === request) Object.assign(seen, { brings: undefined, whole: socket.bytesRead })
          // Its headers may have gone out before the server began to close, and promised that the connection is kept.
          if (isClosing && seen.brings === undefined) socket.destroySoon()
        })
        handler(request, response)
      }
      // The other event is of one that expects what Node does not know: Node would answer it itself, and nobody count it.
      server.on('request', take).on('checkExpectation', take)
    },
  }
}
