import type { Socket } from 'node:net'
import { createFrameReader } from './frame.ts'
import type { DecodedRequest } from './wire.ts'
import { decodeRequest } from './wire.ts'

/** A request, or why the bytes that came are none. */
export type Incoming = DecodedRequest | { readonly kind: undefined; readonly refused: string }

/** The requests of one connection. Bytes are taken when a request is asked for, so that a slow application slows the node. */
export interface Intake {
  /** The next request, undefined when none has come whole. What is not understood comes once, and is the last. */
  next(): Incoming | undefined
  /** True when there is nothing more to come: the peer has ended and all is served, the input was refused, or `stop` was called. */
  isDone(): boolean
  /** The peer has ended its side; what came before is still served. */
  peerEnded(): void
  /** Takes nothing more. */
  stop(): void
}

/** The requests that come on `socket`, of at most `frameBytesMax` bytes each. */
export function createIntake(socket: Socket, frameBytesMax: number, warn: (fields: object, message: string) => void): Intake {
  const frames = createFrameReader(frameBytesMax)
  let ended = false
  let done = false

  const read = (): Incoming | undefined => {
    for (;;) {
      const frame = frames.next()
      if (frame !== undefined) return decodeRequest(frame)
      const packet = socket.read() as Buffer | null
      if (packet === null) {
        done = ended
        return undefined
      }
      frames.push(packet)
    }
  }

  return {
    next: () => {
      if (done) return undefined
      try {
        return read()
      } catch (error) {
        done = true
        warn({ err: error }, 'abci: input refused, the connection is closed')
        return { kind: undefined, refused: (error as Error).message }
      }
    },
    isDone: () => done,
    peerEnded: () => {
      ended = true
    },
    stop: () => {
      done = true
    },
  }
}
