import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Piece, Reply } from '../rpc/envelope.ts'
import { PIECE_BYTES, SOCKET_CLOSE_MS, SOCKET_MESSAGES_MAX, SOCKET_QUEUE_BYTES_MAX } from './limits.ts'
import { bytesOf, partsOf } from './pieces.ts'
import { turnFor } from './turns.ts'
import type { Unread } from './unread.ts'

/** Why the gateway closes a websocket. Source: RFC 6455, section 7.4.1, and its registry of codes. */
const TRY_AGAIN_LATER = 1013

/** Sends a message on a websocket. `onTaken`: called once the system has taken it, unless the websocket ends first. */
export type Send = (pieces: readonly Piece[], onTaken?: () => void) => void

interface Message {
  readonly pieces: readonly Piece[]
  /** In bytes. */
  readonly length: number
  readonly onTaken: (() => void) | undefined
}

/** Pings a websocket, and closes it when it says nothing until the next ping. */
export function keepAlive(socket: WebSocket, pingMs: number): void {
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
  socket.once('close', () => clearInterval(pinging))
}

/**
 * Returns how to send on a websocket: one message after another, a long one in frames, in turns. It is closed when too much waits for
 * its reader; a message of any length may be the only one that waits.
 * `connection`: what the websocket runs on. `onSlow`: called when it is closed for what waits.
 */
export function openQueue(socket: WebSocket, connection: Socket, unread: Unread, onSlow: () => void): Send {
  const waiting: Message[] = []
  let bytes = 0
  let isSending = false
  socket.once('close', () => waiting.splice(0))
  const isOpen = (): boolean => socket.readyState === socket.OPEN
  const taken = (message: Message): void => {
    bytes -= message.length
    unread.remove(message)
    message.onTaken?.()
  }
  const sendMessage = async (message: Message): Promise<void> => {
    let left = message.length
    for (const part of partsOf(message.pieces)) {
      const length = Buffer.byteLength(part)
      if (message.length > PIECE_BYTES) await turnFor(length)
      if (!isOpen()) return
      left -= length
      const isLast = left === 0
      const { promise, resolve } = Promise.withResolvers<void>()
      socket.send(part, { binary: false, fin: isLast }, (error) => {
        if (isLast && !error) taken(message)
        resolve()
      })
      if (socket.bufferedAmount >= PIECE_BYTES) await promise
    }
  }
  const sendAll = async (): Promise<void> => {
    if (isSending) return
    isSending = true
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await sendMessage(next)
    isSending = false
  }
  return (pieces, onTaken) => {
    if (!isOpen()) return
    const length = bytesOf(pieces)
    if (bytes > 0 && bytes + length > SOCKET_QUEUE_BYTES_MAX) {
      onSlow()
      socket.close(TRY_AGAIN_LATER, `too slow: ${SOCKET_QUEUE_BYTES_MAX} bytes wait to be read`)
      setTimeout(() => socket.terminate(), SOCKET_CLOSE_MS).unref()
      return
    }
    bytes += length
    const message = { pieces, length, onTaken }
    waiting.push(message)
    unread.add(message, connection, pieces, onSlow)
    void sendAll()
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
      if (reply !== undefined) send(reply.pieces)
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
