import type { Socket } from 'node:net'
import { createFrameReader } from './frame.ts'
import { type DecodedRequest, decodeRequest } from './wire.ts'

interface Limits {
  readonly frameBytesMax: number
  readonly warn: (fields: object, message: string) => void
}

/** A request, or why the bytes that came are none. */
export type Incoming = DecodedRequest | { readonly kind: undefined; readonly refused: string }

/** Bytes of one connection that are taken before their requests are asked for. */
export const AHEAD_BYTES_MAX = 4 * 1024 * 1024

/** The requests of one connection. */
export interface Intake {
  /** The next request, undefined when none has come whole. What is not understood comes once, and is the last. */
  next(): Incoming | undefined
  /**
   * True when there is nothing more to come: the peer has ended and all is served, the input was refused, or `stop` was
   * called.
   */
  isDone(): boolean
  /** Takes nothing more; what still comes is read and dropped. */
  stop(): void
}

/**
 * The requests that come on `socket`, of at most `frameBytesMax` bytes each; `onInput` is called when there may be a
 * next one. Up to AHEAD_BYTES_MAX are read ahead of their requests: CometBFT spends a core on its flush timer while a
 * write to us waits. Beyond that the socket is not read, so that a slow application slows the node.
 */
export function createIntake(socket: Socket, { frameBytesMax, warn }: Limits, onInput: () => void): Intake {
  const frames = createFrameReader(frameBytesMax)
  const ahead: Buffer[] = []
  let aheadBytes = 0
  let ended = false
  let done = false

  const take = (): Buffer | undefined => {
    const packet = ahead.shift()
    aheadBytes -= packet?.length ?? 0
    if (socket.isPaused() && aheadBytes <= AHEAD_BYTES_MAX / 2) socket.resume()
    return packet
  }

  const read = (): Incoming | undefined => {
    for (;;) {
      const frame = frames.next()
      if (frame !== undefined) return decodeRequest(frame)
      const packet = take()
      if (packet === undefined) {
        done = ended
        return undefined
      }
      frames.push(packet)
    }
  }

  const stop = (): void => {
    done = true
    ahead.length = 0
    socket.resume()
  }

  socket.on('data', (packet: Buffer) => {
    if (done) return
    ahead.push(packet)
    aheadBytes += packet.length
    if (aheadBytes > AHEAD_BYTES_MAX) socket.pause()
    onInput()
  })
  socket.on('end', () => {
    ended = true
    onInput()
  })

  return {
    next: () => {
      if (done) return undefined
      try {
        return read()
      } catch (error) {
        stop()
        warn({ err: error }, 'abci: input refused, the connection is closed')
        return { kind: undefined, refused: (error as Error).message }
      }
    },
    isDone: () => done,
    stop,
  }
}
