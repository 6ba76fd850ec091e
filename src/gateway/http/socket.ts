import type { WebSocket } from 'ws'
import type { Piece, Reply } from '../rpc/envelope.ts'
import { messageOf } from './pieces.ts'
import {
  type HTTP_LIMITS,
  PIECE_BYTES,
  SOCKET_CLOSE_MS,
  SOCKET_MESSAGES_MAX,
  SOCKET_QUEUE_BYTES_MAX,
} from './limits.ts'

/** Why the gateway closes a websocket. Source: RFC 6455, section 7.4.1, and its registry of codes. */
const TRY_AGAIN_LATER = 1013

/** Sends a message on a websocket. `onTaken`: called once the system has taken it, unless the websocket ends first. */
export type Send = (message: Piece, onTaken?: () => void) => void

/**
 * Bounds what waits to be read: of one websocket, and of all together. Returns a function that opens the queue of one: it
 * is pinged, and is closed when it says nothing, or does not read what is sent to it. A message of any length may be the
 * only one that waits. `onSlow` is told of each that is closed for it.
 */
export function createSockets(
  onSlow: () => void,
  { unreadBytes, pingMs }: typeof HTTP_LIMITS,
): (socket: WebSocket) => Send {
  const queues = new Map<WebSocket, { bytes: number; waiting: Parameters<Send>[] }>()
  let bytes = 0
  const remove = (socket: WebSocket): void => {
    const queue = queues.get(socket)
    if (queue === undefined) return
    queues.delete(socket)
    queue.waiting = []
    bytes -= queue.bytes
  }
  /** Cuts off the slowest until the rest is within the limit, even those that are closing already. */
  const makeRoom = (): void => {
    while (bytes > unreadBytes) {
      const [slowest] = [...queues].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most))
      onSlow()
      remove(slowest)
      slowest.terminate()
    }
  }
  return (socket) => {
    const queue = { bytes: 0, waiting: [] as Parameters<Send>[] }
    queues.set(socket, queue)
    const add = (more: number): void => {
      if (!queues.has(socket)) return
      queue.bytes += more
      bytes += more
    }
    let hasAnswered = true
    const pinging = setInterval(() => {
      if (!hasAnswered && !socket.isPaused) return socket.terminate()
      // While it is not read, nobody knows whether it answers.
      hasAnswered = socket.isPaused
      socket.ping()
    }, pingMs).unref()
    const isThere = (): void => {
      hasAnswered = true
    }
    // Its pong may stand behind many messages, which are read one a turn.
    socket.on('pong', isThere).on('message', isThere)
    socket.once('close', () => {
      clearInterval(pinging)
      remove(socket)
    })
    const isOpen = (): boolean => socket.readyState === socket.OPEN
    const flush = (): void => {
      while (isOpen() && queue.waiting.length > 0 && socket.bufferedAmount < PIECE_BYTES) {
        const [message, onTaken] = queue.waiting.shift() as Parameters<Send>
        socket.send(message, { binary: false }, () => {
          add(-Buffer.byteLength(message))
          onTaken?.()
          flush()
        })
      }
    }
    return (message, onTaken) => {
      if (!isOpen()) return
      const length = Buffer.byteLength(message)
      if (queue.bytes > 0 && queue.bytes + length > SOCKET_QUEUE_BYTES_MAX) {
        onSlow()
        socket.close(TRY_AGAIN_LATER, `too slow: ${SOCKET_QUEUE_BYTES_MAX} bytes wait to be read`)
        setTimeout(() => socket.terminate(), SOCKET_CLOSE_MS).unref()
        return
      }
      add(length)
      queue.waiting.push([message, onTaken])
      flush()
      makeRoom()
    }
  }
}

/**
 * Answers the messages of a websocket, each as the body of a POST, in their order and at most SOCKET_MESSAGES_MAX at a
 * time: beyond them it is not read. The messages behind them in the chunk that was read last, which has 64 KiB at most,
 * wait here. `answer` never rejects, and `sent` is called once its answer was sent.
 */
export function answerMessages(
  socket: WebSocket,
  send: Send,
  answer: (text: string) => Promise<{ readonly reply: Reply | undefined; readonly sent: () => void }>,
): void {
  const waiting: string[] = []
  let underWay = 0
  const begin = (text: string): void => {
    underWay++
    void answer(text).then(({ reply, sent }) => {
      underWay--
      if (reply !== undefined) send(messageOf(reply.pieces))
      sent()
      beginNext()
    })
  }
  const beginNext = (): void => {
    while (underWay < SOCKET_MESSAGES_MAX) {
      const text = waiting.shift()
      if (text === undefined) return socket.resume()
      begin(text)
    }
    socket.pause()
  }
  socket.on('message', (data, isBinary) => {
    if (isBinary) return socket.close(1003, 'expected text, got a binary message')
    waiting.push(String(data))
    beginNext()
  })
  socket.once('close', () => waiting.splice(0))
}
