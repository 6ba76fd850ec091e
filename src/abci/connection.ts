import type { Socket } from 'node:net'
import { createBlockFold } from './blockFold.ts'
import { callHandler } from './call.ts'
import type { Connection, ConnectionContext } from './context.ts'
import type { Admission } from './drivers.ts'
import { createReplyQueue, type ReplyQueue, type Unfold } from './replyQueue.ts'
import { createRequestQueue, type Incoming } from './requestQueue.ts'
import type { CommitResponse } from './types.ts'
import { checkReply } from './wire.ts'

/** How long one connection is served before the others get their turn. */
export const TURN_MS = 4
/** The most requests of one connection that are started and not yet answered. */
export const PENDING_MAX = 64
/** Replies of this size are handed to the socket at once, even in the middle of a turn. */
export const REPLY_BYTES_MAX = 256 * 1024
/** How long a connection that closes may take to send its last replies. */
export const CLOSE_GRACE_MS = 2000

/** Serves `socket`, which must be created with `allowHalfOpen`, until either side ends it. */
export function openConnection(socket: Socket, context: ConnectionContext): Connection {
  const requests = createRequestQueue(socket, context, () => context.schedule(connection))
  // The dialect of 0.37 is served by FinalizeBlock unless the application knows it.
  const fold = context.handlers.beginBlock === undefined ? createBlockFold(context) : undefined
  let postponed: Incoming | undefined // taken from the queue, and not allowed to start yet
  let draining = false // the peer does not read, so nothing is started until it does
  let ending = false
  let turnEnds = 0

  const send = (): void => {
    if (replies.size() > 0 && !context.isDead() && !socket.destroyed) draining = !socket.write(replies.take())
    if (ending || !requests.isDone() || postponed !== undefined || replies.waiting() > 0) return
    ending = true
    endSocket(socket)
  }

  const admit = ({ kind }: Incoming): Admission =>
    kind === undefined ? 'now' : context.drivers.admit(kind, connection)

  const refuse = (error: string, { kind }: Incoming, warning: string): void => {
    context.warn({ kind }, `abci: ${warning}, the connection is closed`)
    requests.stop()
    replies.answer('exception', { error })
  }

  const start = (request: Incoming): void => {
    const taken = fold?.take(request, replies) ?? false
    if (typeof taken === 'object') refuse(taken.refused, request, taken.refused)
    else if (!taken) answer(request, replies, context)
  }

  const serve = (): void => {
    while (!draining && !context.isDead() && !socket.destroyed && replies.waiting() < PENDING_MAX) {
      const request = postponed ?? requests.next()
      postponed = undefined
      if (request === undefined) return
      const admission = replies.blocks(request.kind) ? 'later' : admit(request)
      if (admission === 'later') {
        postponed = request
        return
      }
      if (admission === 'never')
        refuse(
          `${request.kind} is refused: the application is driven over another connection`,
          request,
          'a second node tried to drive the application',
        )
      else start(request)
      if (replies.size() > REPLY_BYTES_MAX) send()
      if (performance.now() > turnEnds) return context.schedule(connection)
    }
  }

  // A handler that still runs may change the state: no other connection drives the application until it has ended.
  const leave = (): void => {
    if (socket.closed && replies.waiting() === 0) context.drivers.leave(connection)
  }

  const replies = createReplyQueue(context, () => {
    leave()
    // The next request may start in the same turn, but not beyond its end: other connections wait.
    if (performance.now() < turnEnds) serve()
    context.schedule(connection)
  })

  const connection: Connection = {
    turn: () => {
      turnEnds = performance.now() + TURN_MS
      serve()
      send()
    },
    close: () =>
      new Promise((resolve) => {
        if (socket.destroyed) return resolve()
        socket.once('close', () => resolve())
        requests.stop()
        postponed = undefined
        if (context.isDead()) socket.destroy()
        // Not at once: the handler that calls this may be that of a request whose reply is not there yet.
        else context.schedule(connection)
        setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref()
      }),
  }

  socket.on('drain', () => {
    draining = false
    context.schedule(connection)
  })
  socket.once('close', leave)
  socket.on('error', (error) => context.warn({ err: error }, 'abci: connection failed'))
  return connection
}

// What still arrives is read and dropped. A socket that is closed with unread bytes resets the connection, and the last
// reply would be lost.
function endSocket(socket: Socket): void {
  socket.end()
  setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref()
}

/** Only 0.37 reads an app hash in the Commit response; later versions reserve its number. */
const withAppHash =
  (context: ConnectionContext): Unfold =>
  (response) => {
    checkReply('commit', response)
    const { retainHeight, appHash = context.foldedAppHash } = response as CommitResponse
    return [['commit', { retainHeight, appHash: context.isLegacy ? appHash : undefined }]]
  }

function answer(request: Incoming, replies: ReplyQueue, context: ConnectionContext): void {
  if (request.kind === undefined) {
    const error = 'refused' in request ? request.refused : `unknown request: kind ${request.field}`
    return replies.answer('exception', { error })
  }
  const { kind } = request
  if (kind === 'echo' || kind === 'flush') return replies.answer(kind, kind === 'echo' ? request.request : {})
  if (kind === 'beginBlock' || kind === 'finalizeBlock') context.isLegacy = kind === 'beginBlock'
  callHandler(kind, request.request, context, replies, kind === 'commit' ? withAppHash(context) : undefined)
}
