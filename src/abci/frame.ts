/**
 * Why input is refused (`overlong`, `oversize`, `undecodable`), or why a server does not start (`inUse`, `address`).
 * @example if ((error as { code?: AbciErrorCode }).code === 'inUse') console.error('svcd is running already')
 */
export type AbciErrorCode = 'overlong' | 'oversize' | 'undecodable' | 'inUse' | 'address'

/** An Error with a `code` for programs; the message is for people. */
export function abciError(code: AbciErrorCode, message: string): Error & { code: AbciErrorCode } {
  return Object.assign(new Error(message), { code })
}

/**
 * The default frame limit: 72 MiB, which holds a block of 64 MiB and the rest of its request. The rest is at most 0.5
 * MiB: 44 bytes for each vote, of which CometBFT allows 10,000, and misbehaviour, which is shorter than its evidence in
 * the block.
 * @example startAbciServer({ application, address, onFatal, frameBytesMax: FRAME_BYTES_MAX / 2 })
 */
export const FRAME_BYTES_MAX = 72 * 1024 * 1024
/**
 * The largest frame limit, which is CometBFT's own limit for a message (abci/types/messages.go).
 * @example startAbciServer({ application, address, onFatal, frameBytesMax: FRAME_BYTES_LIMIT })
 */
export const FRAME_BYTES_LIMIT = 2 ** 31 - 1

const HEADER_BYTES_MAX = 5
const BODY_BYTES_FIRST = 4096
const NOTHING = Buffer.alloc(0)

/** Splits a byte stream into frames. A frame is its length as an unsigned varint, then that many bytes. */
export type FrameReader = ReturnType<typeof createFrameReader>

/**
 * Creates a reader of frames of at most `frameBytesMax` bytes. It holds one packet, and at most twice the received part
 * of one frame.
 */
export function createFrameReader(frameBytesMax: number = FRAME_BYTES_MAX) {
  let packet: Buffer = NOTHING
  let offset = 0
  let headerBytes = 0
  let length = 0
  let inBody = false
  let body: Buffer | undefined
  let filled = 0

  const readHeader = (): boolean => {
    while (offset < packet.length) {
      const byte = packet[offset++] as number
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

  // The buffer grows with the bytes that have arrived. A peer that only announces a large frame costs no memory.
  const grow = (bytes: number): Buffer => {
    if (body !== undefined && body.length >= bytes) return body
    const grown = Buffer.allocUnsafeSlow(Math.min(length, Math.max(BODY_BYTES_FIRST, 2 * (body?.length ?? 0), bytes)))
    body?.copy(grown, 0, 0, filled)
    body = grown
    return grown
  }

  return {
    /** Adds the next packet. To be called only after `next` returned undefined, because one packet is held at a time. */
    push: (next: Buffer): void => {
      if (offset < packet.length) throw new Error('frame reader: the previous packet is not read yet')
      packet = next
      offset = 0
    },
    /**
     * The next complete frame; undefined when more bytes are needed. A frame within one packet is a view of that packet,
     * any other frame is a copy. Throws `oversize` before any memory is allocated for the frame, and `overlong` for a
     * length that is written in more bytes than it needs.
     */
    next: (): Buffer | undefined => {
      if (!inBody) inBody = readHeader()
      if (!inBody) return undefined
      const available = packet.length - offset
      if (body === undefined && available >= length) {
        offset += length
        return done(packet.subarray(offset - length, offset))
      }
      const taken = Math.min(length - filled, available)
      if (taken === 0) return undefined
      const into = grow(filled + taken)
      packet.copy(into, filled, offset, offset + taken)
      offset += taken
      filled += taken
      return filled === length ? done(into) : undefined
    },
  }
}
