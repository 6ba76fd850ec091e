import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { callerAddress } from './callerAddress.ts'
import { type HTTP_LIMITS, OVERHEAD_BYTES } from './limits.ts'
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
    let own = OVERHEAD_BYTES
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
  return {
    unread,
    /** Bounds the connections of a server before it listens; several servers share the limits. */
    watch: (server: Server): void => {
      server.on('connection', (socket: Socket) => {
        if (mayConnect(socket)) socket.once('close', () => unread.removeAll(socket))
        else socket.destroy()
      })
    },
  }
}
