import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { asBuffer } from '../../base/bytes.ts'
import type { Connections } from './connections.ts'
import type { Piece } from '../rpc/envelope.ts'
import { PIECE_BYTES } from './limits.ts'

const bufferOf = (piece: Piece): Buffer => (typeof piece === 'string' ? Buffer.from(piece) : asBuffer(piece))

/**
 * Yields the parts of an answer, one in each turn of the event loop. The operating system can buffer megabytes for a
 * connection, even if the client never reads them. Copying that much for many connections in a single turn would block
 * all other callers.
 */
async function* partsOf(pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    const bytes = bufferOf(piece)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield bytes.subarray(at, at + PIECE_BYTES)
      await nextTurn()
    }
  }
}

/** The message that the pieces of an answer make. */
export const messageOf = (pieces: readonly Piece[]): Piece => {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces.map(bufferOf))
}

/** Sends an answer. A long one goes in parts, each once the one before has left, and shared pieces are not copied. */
export function sendPieces(reply: FastifyReply, unread: Connections['unread'], pieces: readonly Piece[]): FastifyReply {
  unread.add(reply.request.raw, reply.raw, pieces)
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  if (bytes > PIECE_BYTES) {
    return reply.header('content-length', String(bytes)).send(Readable.from(partsOf(pieces), { objectMode: false }))
  }
  return reply.send(messageOf(pieces))
}
