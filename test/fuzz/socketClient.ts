import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { need } from '../support/campaign.ts'
import { CLOSE, framesIn, PONG, type Received, TEXT } from './frames.ts'

const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n')

const WAIT_MS_MAX = 300_000

/** Changes what a gateway sent, so that a test sees a campaign fail; undefined: it never came. */
export type Bend = (frame: Received) => Received | undefined

/** A caller on a websocket who writes frames himself. */
export class SocketClient {
  readonly socket: Socket
  /** Messages but for those of subscriptions, and the payloads of pongs; taken away by whoever expected them. */
  readonly texts: string[] = []
  readonly pongs: Buffer[] = []
  /** The payload of the frame by which the gateway closed the websocket. */
  close: Buffer | undefined
  isEnded = false
  private readonly bend: Bend
  private rest: Buffer = Buffer.alloc(0)
  private isOpen = false
  private wake: () => void = () => undefined

  private constructor(socket: Socket, bend: Bend) {
    this.socket = socket
    this.bend = bend
    socket.on('error', () => undefined)
    socket.on('data', (part: Buffer) => this.take(part))
    socket.on('close', () => {
      this.isEnded = true
      this.wake()
    })
  }

  /** Opens a websocket. Throws Broken when the gateway does not. */
  static async open(url: string, localAddress: string, bend: Bend): Promise<SocketClient> {
    const { hostname, port } = new URL(url)
    const client = new SocketClient(connect({ host: hostname, port: Number(port), localAddress }), bend)
    await Promise.race([once(client.socket, 'connect'), once(client.socket, 'close')])
    client.socket.write(UPGRADE)
    await client.until(() => client.isOpen)
    need(client.isOpen, () => `no websocket is opened: ${client.rest.toString('latin1')}`)
    return client
  }

  private take(part: Buffer): void {
    this.rest = Buffer.concat([this.rest, part])
    if (!this.isOpen) {
      const end = this.rest.indexOf('\r\n\r\n')
      if (end < 0) return
      this.isOpen = this.rest.toString('latin1', 0, 13) === 'HTTP/1.1 101 '
      if (!this.isOpen) return
      this.rest = this.rest.subarray(end + 4)
    }
    const [frames, rest] = framesIn(this.rest)
    this.rest = rest
    for (const frame of frames) this.keep(this.bend(frame))
    this.wake()
  }

  private keep(frame: Received | undefined): void {
    if (frame === undefined) return
    const { opcode, payload } = frame
    const text = payload.toString()
    if (opcode === TEXT && !text.startsWith('{"jsonrpc":"2.0","method":"svc_subscription"')) this.texts.push(text)
    if (opcode === PONG) this.pongs.push(payload)
    if (opcode !== CLOSE) return
    this.close = payload
    this.socket.end()
  }

  /** Settles when `isThere`, or when the connection has ended. Throws Broken when neither happens. */
  async until(isThere: () => boolean): Promise<void> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.wake()
    }, WAIT_MS_MAX)
    try {
      while (!isThere() && !this.isEnded) {
        need(!isLate, () => `nothing comes and nothing ends for ${WAIT_MS_MAX} ms`)
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
      }
    } finally {
      clearTimeout(timer)
    }
  }
}
