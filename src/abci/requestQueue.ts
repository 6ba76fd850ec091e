import type { Socket } from 'node:net'
import type { ConnectionContext } from './context.ts'
import { createFrameReader } from './frame.ts'
import { createReadAhead } from './readAhead.ts'
import { type DecodedRequest, decodeRequest } from './wire.ts'

/** A request, or the reason why the bytes received are not one. */
export type Incoming = DecodedRequest | { readonly kind: undefined; readonly refused: string }

/** How many bytes of one connection are read ahead of the requests being served. */
export const READ_AHEAD_BYTES_MAX = 4 * 1024 * 1024

/** What a packet takes in memory beside its bytes: a peer may send one for each byte. */
const PACKET_COST = 1024

/**
 * Queues the requests that arrive on `socket`, of at most `frameBytesMax` bytes each, and calls `onInput` when there may
 * be another one. It reads up to READ_AHEAD_BYTES_MAX ahead, because CometBFT spends a whole core on its flush timer
 * while a write to the application waits. Beyond that the socket is not read, so that a slow application slows the node.
 */
export function createRequestQueue(
  socket: Socket,
  {
    frameBytesMax,
    warn,
    fatal,
    onReadAhead,
  }: Pick<ConnectionContext, 'frameBytesMax' | 'warn' | 'fatal' | 'onReadAhead'>,
  onInput: () => void,
) {
  const frames = createFrameReader(frameBytesMax)
  const readAhead = onReadAhead === undefined ? undefined : createReadAhead(onReadAhead)
  const packets: Buffer[] = []
  let packetBytes = 0
  let ended = false
  let done = false

  const takePacket = (): Buffer | undefined => {
    const packet = packets.shift()
    if (packet !== undefined) packetBytes -= packet.length + PACKET_COST
    if (socket.isPaused() && packetBytes <= READ_AHEAD_BYTES_MAX / 2) socket.resume()
    return packet
  }

  const read = (): Incoming | undefined => {
    for (;;) {
      const frame = frames.next()
      if (frame !== undefined) return decodeRequest(frame)
      const packet = takePacket()
      if (packet === undefined) {
        done = ended
        return undefined
      }
      frames.push(packet)
    }
  }

  const stop = (): void => {
    done = true
    packets.length = 0
    socket.resume()
  }

  socket.on('data', (packet: Buffer) => {
    if (done) return
    packets.push(packet)
    packetBytes += packet.length + PACKET_COST
    if (packetBytes > READ_AHEAD_BYTES_MAX) socket.pause()
    try {
      readAhead?.(packet)
    } catch (error) {
      fatal(error, 'checkTx')
    }
    onInput()
  })
  socket.on('end', () => {
    ended = true
    onInput()
  })

  return {
    /** The next request; undefined until one has arrived completely. Undecodable input is returned once, and is the last. */
    next: (): Incoming | undefined => {
      if (done) return undefined
      try {
        return read()
      } catch (error) {
        stop()
        warn({ err: error }, 'abci: input refused, the connection is closed')
        return { kind: undefined, refused: (error as Error).message }
      }
    },
    /** True when no request can follow: the peer has ended its side, the input was refused, or `stop` was called. */
    isDone: (): boolean => done,
    /** Accepts no more requests. Bytes that still arrive are read and dropped. */
    stop,
  }
}
