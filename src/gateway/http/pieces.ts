import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { asBuffer } from '../../base/bytes.ts'
import type { Piece } from '../rpc/envelope.ts'
import { PIECE_BYTES } from './limits.ts'
import { turnFor } from './turns.ts'
import type { Unread } from './unread.ts'

const bufferOf = (piece: Piece): Buffer => (typeof piece === 'string' ? Buffer.from(piece) : asBuffer(piece))

/** The message that the pieces of an answer make. */
export const messageOf = (pieces: readonly Piece[]): Piece => {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces.map(bufferOf))
}

/** Returns the bytes of an answer. */
export const bytesOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)

/**
 * Yields the parts in which an answer is handed to its connection: a short one whole, a long one by PIECE_BYTES, without a
 * copy of what it shares with others.
 */
export function* partsOf(pieces: readonly Piece[]): Generator<Piece> {
  if (bytesOf(pieces) <= PIECE_BYTES) return yield messageOf(pieces)
  for (const piece of pieces) {
    const bytes = bufferOf(piece)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
  }
}

async function* inTurns(parts: Iterable<Piece>): AsyncGenerator<Piece> {
  for (const part of parts) {
    await turnFor(Buffer.byteLength(part))
    yield part
  }
}

/** Sends an answer. A long one goes in parts, each once the one before has left. */
export function sendPieces(reply: FastifyReply, unread: Unread, pieces: readonly Piece[]): FastifyReply {
  const { raw } = reply
  unread.add(raw, reply.request.raw.socket, pieces)
  raw.once('close', () => unread.remove(raw))
  const bytes = bytesOf(pieces)
  if (bytes <= PIECE_BYTES) return reply.send(messageOf(pieces))
  return reply
    .header('content-length', String(bytes))
    .send(Readable.from(inTurns(partsOf(pieces)), { objectMode: false }))
}
