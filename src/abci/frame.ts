/** Why input is refused (`overlong`, `oversize`, `undecodable`), or no server starts (`inUse`, `address`). */
export type AbciErrorCode = 'overlong' | 'oversize' | 'undecodable' | 'inUse' | 'address'

/** An Error with a `code`, which other code goes by; the message is for people. */
export function abciError(code: AbciErrorCode, message: string): Error & { code: AbciErrorCode } {
  return Object.assign(new Error(message), { code })
}

/**
 * The frame limit where none is given: 72 MiB, for a block of 64 MiB and what a request holds beside it. That is at
 * most 0.5 MiB: 44 bytes for each vote, of which CometBFT allows 10,000, and misbehaviour, which takes less than its
 * evidence took in the block.
 */
export const FRAME_BYTES_MAX = 72 * 1024 * 1024
/** The most a frame limit can be: CometBFT's own limit of a message (abci/types/messages.go). */
export const FRAME_BYTES_LIMIT = 2 ** 31 - 1

const HEADER_BYTES_MAX = 5
const BODY_BYTES_FIRST = 4096
const NOTHING = Buffer.alloc(0)

/** Cuts a byte stream into frames: each an unsigned varint of its length, then that many bytes. */
export interface FrameReader {
  /** Takes the next packet. Only when `next` said undefined: one packet is held at a time. */
  push(packet: Buffer): void
  /**
   * The next whole frame, undefined when more bytes are needed. A frame that lies in one packet is a view of it, any
   * other is a copy. Errors: `oversize` before any memory is taken for it, `overlong` for a length in more bytes than
   * it needs.
   */
  next(): Buffer | undefined
}

/**
 * A reader of frames of at most `frameBytesMax` bytes. Memory: one packet, and at most twice the received part of one
 * frame.
 */
export function createFrameReader(frameBytesMax: number = FRAME_BYTES_MAX): FrameReader {
  let packet: Buffer = NOTHING
  let at = 0
  let headerBytes = 0
  let length = 0
  let inBody = false
  let body: Buffer | undefined
  let filled = 0

  const readHeader = (): boolean => {
    while (at < packet.length) {
      const byte = packet[at++] as number
      length += (byte & 0x7f) * 2 ** (7 * headerBytes)
      headerBytes += 1
      if (length > frameBytesMax) {
        throw abciError(
          'oversize',
          `frame of ${byte < 0x80 ? '' : 'at least '}${length} bytes, at most ${frameBytesMax} are taken`,
        )
      }
      if (byte < 0x80) {
        if (byte === 0 && headerBytes > 1) throw abciError('overlong', 'frame length in more bytes than it needs')
        return true
      }
      if (headerBytes === HEADER_BYTES_MAX)
        throw abciError('overlong', `frame length in more than ${HEADER_BYTES_MAX} bytes`)
    }
    return false
  }

  const done = (frame: Buffer): Buffer => {
    headerBytes = 0
    length = 0
    inBody = false
    body = undefined
    filled = 0
    return frame
  }

  // The buffer grows with what has come, not with what the header announces: a peer that only promises takes no memory.
  const room = (bytes: number): Buffer => {
    if (body !== undefined && body.length >= bytes) return body
    const grown = Buffer.allocUnsafeSlow(Math.min(length, Math.max(BODY_BYTES_FIRST, 2 * (body?.length ?? 0), bytes)))
    body?.copy(grown, 0, 0, filled)
    body = grown
    return grown
  }

  return {
    push: (next) => {
      if (at < packet.length) throw new Error('frame reader: the packet before is not read yet')
      packet = next
      at = 0
    },
    next: () => {
      if (!inBody) inBody = readHeader()
      if (!inBody) return undefined
      const available = packet.length - at
      if (body === undefined && available >= length) {
        at += length
        return done(packet.subarray(at - length, at))
      }
      const taken = Math.min(length - filled, available)
      if (taken === 0) return undefined
      const into = room(filled + taken)
      packet.copy(into, filled, at, at + taken)
      at += taken
      filled += taken
      return filled === length ? done(into) : undefined
    },
  }
}
