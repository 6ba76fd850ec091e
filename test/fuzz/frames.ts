/** Frames of websockets as they are on the wire. Source: RFC 6455, section 5. */
import { type Next, randomBytes } from './bytes.ts'

export const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10] as const

/** A frame of a caller. */
export interface Frame {
  readonly opcode: number
  readonly payload?: Uint8Array
  /** False when others of its message follow. */
  readonly isLast?: boolean
  /** The three bits that have no meaning. */
  readonly reserved?: number
  readonly isMasked?: boolean
  /** The length that the frame says, if it is not that of the payload. */
  readonly length?: bigint
  /** Bytes in which the length is written at least, after the first two. */
  readonly lengthBytes?: 0 | 2 | 8
}

function lengthOf(length: bigint, bytes: number): readonly [first: number, rest: Buffer] {
  if (length < 126n && bytes === 0) return [Number(length), Buffer.alloc(0)]
  const rest = Buffer.alloc(length < 65_536n && bytes < 8 ? 2 : 8)
  if (rest.length === 2) rest.writeUInt16BE(Number(length))
  else rest.writeBigUInt64BE(length)
  return [rest.length === 2 ? 126 : 127, rest]
}

/** The bytes of a frame. */
export function frameBytes(next: Next, frame: Frame): Buffer {
  const { opcode, payload = new Uint8Array(0), isLast = true, reserved = 0, isMasked = true, lengthBytes = 0 } = frame
  const [first, rest] = lengthOf(frame.length ?? BigInt(payload.length), lengthBytes)
  const head = Buffer.from([(isLast ? 0x80 : 0) | (reserved << 4) | opcode, (isMasked ? 0x80 : 0) | first])
  if (!isMasked) return Buffer.concat([head, rest, payload])
  const mask = randomBytes(next, 4)
  return Buffer.concat([head, rest, mask, payload.map((byte, at) => byte ^ (mask[at % 4] as number))])
}

/** A frame of a gateway, which never cuts a message. */
export interface Received {
  readonly opcode: number
  readonly payload: Buffer
}

/** The whole frames at the beginning of `bytes`, and what is left behind them. */
export function framesIn(bytes: Buffer): readonly [frames: readonly Received[], rest: Buffer] {
  const frames: Received[] = []
  for (let rest = bytes; ; ) {
    const short = (rest[1] ?? 0) & 0x7f
    const head = short === 126 ? 4 : short === 127 ? 10 : 2
    if (rest.length < head) return [frames, rest]
    const length = short === 126 ? rest.readUInt16BE(2) : short === 127 ? Number(rest.readBigUInt64BE(2)) : short
    if (rest.length < head + length) return [frames, rest]
    frames.push({ opcode: (rest[0] as number) & 0x0f, payload: rest.subarray(head, head + length) })
    rest = rest.subarray(head + length)
  }
}
