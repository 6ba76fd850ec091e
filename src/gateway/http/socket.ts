import type { WebSocket } from 'ws'
import { asBuffer } from '../../base/bytes.ts'
import type { Piece, Reply } from '../rpc/envelope.ts'
import {
  type HTTP_LIMITS,
  PIECE_BYTES,
  SOCKET_CLOSE_MS,
  SOCKET_MESSAGES_MAX,
  SOCKET_QUEUE_BYTES_MAX,
} from './limits.ts'

/** Why the gateway closes a websocket. Source: RFC 6455, section 7.4.1, and its registry of codes. */
const TRY_AGAIN_LATER = 1013

type Message = string | Uint8Array

const lengthOf = (message: Message): number =>
  typeof message === 'string' ? Buffer.byteLength(message) : message.length

/** The message that the pieces of an answer make. */
export const messageOf = (pieces: readonly Piece[]): Message => {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : asBuffer(piece))))
}

/** What waits for the reader of one websocket. */
export interface Outbox {
  readonly send: (message: Message) => void
}

/** Bounds what waits to be read: of one websocket, and of all together. `onSlow` is told of each that is closed for it. */
export function createSockets(onSlow: () => void, { unreadBytes, pingMs }: typeof HTTP_LIMITS) {
  const queues = new Map<WebSocket, { bytes: number }>()
  let bytes = 0
  const end = (socket: WebSocket, reason: string): void => {
    onSlow()
    socket.close(TRY_AGAIN_LATER, reason)
    setTimeout(() => socket.terminate(), SOCKET_CLOSE_MS).unref()
  }
  const slowest = (): WebSocket | undefined => {
    const [first, ...others] = queues
    if (first === undefined) return undefined
    return others.reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most), first)[0]
  }
  return {
    /** How many there are. */
    size: (): number => queues.size,
    /**
     * Opens the queue of a websocket. It is pinged, and is closed when it does not answer, or does not read what is sent
     * to it. A message of any length may be the only one that waits.
     */
    open: (socket: WebSocket): Outbox => {
      let waiting: Message[] = []
      const queue = { bytes: 0 }
      queues.set(socket, queue)
      const add = (more: number): void => {
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
      socket.on('pong', () => {
        hasAnswered = true
      })
      socket.once('close', () => {
        clearInterval(pinging)
        queues.delete(socket)
        waiting = []
        add(-queue.bytes)
      })
      const isOpen = (): boolean => socket.readyState === socket.OPEN
      const flush = (): void => {
        while (isOpen() && waiting.length > 0 && socket.bufferedAmount < PIECE_BYTES) {
          const message = waiting.shift() as Message
          socket.send(message, { binary: false }, () => {
            if (queues.has(socket)) add(-lengthOf(message))
            flush()
          })
        }
      }
      return {
        send: (message) => {
          if (!isOpen()) return
          if (queue.bytes > 0 && queue.bytes + lengthOf(message) > SOCKET_QUEUE_BYTES_MAX)
            return end(socket, `too slow: ${SOCKET_QUEUE_BYTES_MAX} bytes wait to be read`)
          add(lengthOf(message))
          waiting.push(message)
          flush()
          if (bytes <= unreadBytes) return
          const slow = slowest()
          if (slow?.readyState === socket.OPEN)
            end(slow, `too slow: ${unreadBytes} bytes wait to be read at this gateway`)
        },
      }
    },
  }
}

/**
 * Answers the messages of a websocket, each as the body of a POST, in their order and at most SOCKET_MESSAGES_MAX at a
 * time: beyond them it is not read. The messages behind them in the chunk that was read last, which has 64 KiB at most,
 * wait here. `answer` never rejects, and `sent` is called once its answer was sent.
 */
export function answerMessages(
  socket: WebSocket,
  outbox: Outbox,
  answer: (text: string) => Promise<{ readonly reply: Reply | undefined; readonly sent: () => void }>,
): void {
  const waiting: string[] = []
  let underWay = 0
  const begin = (text: string): void => {
    underWay++
    void answer(text).then(({ reply, sent }) => {
      underWay--
      if (reply !== undefined) outbox.send(messageOf(reply.pieces))
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
