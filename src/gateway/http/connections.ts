import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { callerAddress } from './callerAddress.ts'
import { ANSWER_OVERHEAD_BYTES, type HTTP_LIMITS } from './limits.ts'
import type { Piece } from '../rpc/envelope.ts'
import { createTally } from './tally.ts'

type Limits = typeof HTTP_LIMITS

/**
 * Returns a function that says of a new connection whether there is room for it, and counts it until it ends. The
 * connections of a proxy are bounded only by the limit on all of them.
 */
function countConnections(
  { connections, connectionsOfAddress }: Limits,
  isProxy: (address: string) => boolean,
): (socket: Socket) => boolean {
  const open = createTally()
  let all = 0
  return (socket) => {
    const { remoteAddress = '' } = socket
    const address = callerAddress(remoteAddress)
    if (all >= connections || (open.of(address) >= connectionsOfAddress && !isProxy(remoteAddress))) return false
    all += 1
    open.add(address)
    socket.once('close', () => {
      all -= 1
      open.remove(address)
    })
    return true
  }
}

/**
 * Closes connections that leave what was sent to them unread for `unreadMs`. Those that wait for an answer have nothing
 * to read. The time is counted in looks: a gateway that stood still has looked once, and not served its sockets since.
 */
function closeUnread(server: Server, { unreadMs }: Limits): void {
  const everyMs = Math.min(1000, unreadMs / 4)
  const sockets = new Map<Socket, { taken: number; looks: number }>()
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, { taken: 0, looks: 0 })
    socket.once('close', () => sockets.delete(socket))
  })
  const check = (): void => {
    for (const [socket, seen] of sockets) {
      const taken = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || taken !== seen.taken) Object.assign(seen, { taken, looks: 0 })
      else if (++seen.looks * everyMs > unreadMs) socket.destroy()
    }
  }
  const timer = setInterval(check, everyMs).unref()
  server.once('close', () => clearInterval(timer))
}

/**
 * Counts the bytes of answers that wait to be read. Beyond `unreadBytes` the connection of the oldest one is closed:
 * callers who do not read make room for those who do.
 */
function boundUnread({ unreadBytes }: Limits) {
  const answers = new Map<ServerResponse, { socket: Socket; pieces: readonly Piece[]; own: number }>()
  // How many answers share each piece, which counts once.
  const holders = new Map<Uint8Array, number>()
  let bytes = 0
  const hold = (shared: Uint8Array): void => {
    const count = holders.get(shared) ?? 0
    if (count === 0) bytes += shared.length
    holders.set(shared, count + 1)
  }
  const letGo = (shared: Uint8Array): void => {
    const count = holders.get(shared) ?? 1
    if (count > 1) holders.set(shared, count - 1)
    else if (holders.delete(shared)) bytes -= shared.length
  }
  const remove = (response: ServerResponse): void => {
    const answer = answers.get(response)
    if (answer === undefined) return
    answers.delete(response)
    bytes -= answer.own
    for (const piece of answer.pieces) if (typeof piece !== 'string') letGo(piece)
  }
  // An answer that waits behind another one on its connection gets no event when that connection ends.
  const removeAll = (socket: Socket): void => {
    for (const [response, answer] of answers) if (answer.socket === socket) remove(response)
  }
  /** Counts an answer until it is read or its connection ends. */
  const add = ({ socket }: IncomingMessage, response: ServerResponse, pieces: readonly Piece[]): void => {
    if (socket.destroyed) return
    let own = ANSWER_OVERHEAD_BYTES
    for (const piece of pieces) {
      if (typeof piece === 'string') own += piece.length
      else hold(piece)
    }
    bytes += own
    answers.set(response, { socket, pieces, own })
    response.once('close', () => remove(response))
    for (const [oldest, { socket: slow }] of answers) {
      if (bytes <= unreadBytes) return
      remove(oldest)
      slow.destroy()
    }
  }
  return { add, removeAll }
}

/**
 * Knows which connections bring a request, so that a server that closes can cut off the others. Node looks at how long
 * requests take only while a server is open: a connection that sends nothing, or the half of a request, would keep it
 * from closing for ever.
 */
function watchRequests() {
  const requests = new Map<Socket, IncomingMessage | undefined>()
  let isClosing = false
  return {
    watch: (server: Server): void => {
      server.on('connection', (socket: Socket) => {
        requests.set(socket, undefined)
        socket.once('close', () => requests.delete(socket))
        if (isClosing) socket.destroy()
      })
      server.on('request', (request, response) => {
        const { socket } = request
        requests.set(socket, request)
        response.once('close', () => requests.has(socket) && requests.set(socket, undefined))
      })
    },
    /** Leaves a connection to its websocket, which is closed in its own way. */
    release: (socket: Socket): void => void requests.delete(socket),
    /** Cuts off the connections whose request is not there, and those that come later. */
    closeIdle: (): void => {
      isClosing = true
      for (const [socket, request] of requests) if (request?.complete !== true) socket.destroy()
    },
  }
}

/**
 * Answers callers who close their half of a connection behind their requests, and then closes the other half. Node cuts
 * them off otherwise; this property of its servers has no page in its documentation.
 */
export const allowHalfOpen = (server: Server): Server => Object.assign(server, { httpAllowHalfOpen: true })

/** The connections of a gateway. */
export type Connections = ReturnType<typeof boundConnections>

/** Keeps connections within `limits`. `isProxy` says whether many callers stand behind an address. */
export function boundConnections(limits: Limits, isProxy: (address: string) => boolean) {
  const mayConnect = countConnections(limits, isProxy)
  const unread = boundUnread(limits)
  const { watch: watchRequestsOf, release, closeIdle } = watchRequests()
  return {
    unread,
    release,
    closeIdle,
    /** Bounds the connections of a server before it listens; several servers share the limits. */
    watch: (server: Server): void => {
      server.on('connection', (socket: Socket) => {
        if (mayConnect(socket)) socket.once('close', () => unread.removeAll(socket))
        else socket.destroy()
      })
      closeUnread(server, limits)
      watchRequestsOf(server)
    },
  }
}
