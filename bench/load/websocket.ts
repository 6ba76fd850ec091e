import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const TEXT = 0x81
const PONG = 0x8a
const OPCODE_PING = 0x9

/**
 * One frame of a client. Masked with zeros, which leaves the text as it is: RFC 6455 asks for a random mask, for the
 * sake of proxies between strangers, and no server can tell.
 */
function frameOf(first: number, payload: Buffer): Buffer {
  const { length } = payload
  const header = length < 126 ? Buffer.alloc(6) : Buffer.alloc(8)
  header[0] = first
  if (length < 126) header[1] = 0x80 | length
  else {
    header[1] = 0x80 | 126
    header.writeUInt16BE(length, 2)
  }
  return Buffer.concat([header, payload])
}

/** A message of at most 65,535 bytes as a frame. */
export const textFrame = (text: string): Buffer => frameOf(TEXT, Buffer.from(text))

/** A websocket without comfort, so that the generator costs little: frames out as they are, whole messages in. */
export type RawWebSocket = Awaited<ReturnType<typeof openWebSocket>>

/** What a socket calls: `onMessage` with each text frame, a view that is good until it returns. */
export interface WebSocketHandlers {
  readonly onMessage: (text: Buffer) => void
  readonly onDrain: () => void
}

/** Reads server frames; returns how many bytes of `data` were whole frames. */
function readFrames(data: Buffer, socket: Socket, onMessage: (text: Buffer) => void): number {
  let at = 0
  while (at + 2 <= data.length) {
    const short = (data[at + 1] as number) & 0x7f
    const header = short < 126 ? 2 : short === 126 ? 4 : 10
    if (at + header > data.length) break
    const length =
      short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : Number(data.readBigUInt64BE(at + 2))
    if (at + header + length > data.length) break
    const body = data.subarray(at + header, at + header + length)
    if (((data[at] as number) & 0x0f) === OPCODE_PING) socket.write(frameOf(PONG, body))
    else onMessage(body)
    at += header + length
  }
  return at
}

/** Opens `ws://host:port/websocket` of a node. */
export async function openWebSocket(host: string, port: number, { onMessage, onDrain }: WebSocketHandlers) {
  const socket = connect({ host, port, noDelay: true })
  await once(socket, 'connect')
  socket.write(
    `GET /websocket HTTP/1.1\r\nHost: ${host}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 101'))
    throw new Error(`no websocket: ${answer.toString('latin1').slice(0, 80)}`)
  let rest = answer.subarray(answer.indexOf('\r\n\r\n') + 4)
  const take = (chunk: Buffer): void => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    rest = data.subarray(readFrames(data, socket, onMessage))
  }
  socket.on('data', take)
  socket.on('drain', onDrain)
  socket.on('error', () => socket.destroy())
  take(Buffer.alloc(0))
  return {
    /** False while the socket's buffer is full; `onDrain` is called when it is empty again. */
    write: (frames: Buffer) => socket.write(frames),
    close: () => socket.destroy(),
  }
}
