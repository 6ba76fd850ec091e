import { once } from 'node:events'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { createFrameReader } from '../frame.ts'
import { needAddress } from '../address.ts'
import type { AbciRequest, Application, Handler, RequestKind } from '../types.ts'
import { decodeReply, encodeRequest, requestKinds } from '../wire.ts'

/**
 * An application behind a socket. `close` ends the connection.
 * @example await createTestChain(() => connectApplication(address), { close: (application) => application.close() })
 */
export type ConnectedApplication = Application & { close(): void }

/** What only 0.37 asks, and what the server answers itself. */
const LEFT_OUT: ReadonlySet<RequestKind> = new Set(['echo', 'flush', 'beginBlock', 'deliverTx', 'endBlock'])

/** Asks over `socket`, one request after the other. */
function asker(socket: Socket): (kind: RequestKind, request: AbciRequest) => Promise<object> {
  const frames = createFrameReader()
  const waiting: { kind: RequestKind; done(response: object): void; fail(error: Error): void }[] = []
  const end = (error: Error): void => {
    for (const { fail } of waiting.splice(0)) fail(error)
  }
  const take = (frame: Buffer): void => {
    const { kind, response } = decodeReply(frame)
    if (kind === 'flush') return
    const asked = waiting.shift()
    if (kind === asked?.kind) asked.done(response)
    else asked?.fail(new Error(`the reply is ${kind}: ${(response as { error?: string }).error ?? 'of another kind'}`))
  }
  socket.on('data', (packet: Buffer) => {
    try {
      frames.push(packet)
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) take(frame)
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
  socket.on('error', end)
  socket.on('close', () => end(new Error('the connection has ended')))
  return (kind, request) =>
    new Promise((done, fail) => {
      if (socket.destroyed) return fail(new Error('the connection has ended'))
      waiting.push({ kind, done, fail })
      // Servers in Go send what they have answered when they are asked to flush.
      socket.write(Buffer.concat([encodeRequest(kind, request), encodeRequest('flush', {})]))
    })
}

class Connected {
  private readonly socket: Socket

  constructor(socket: Socket) {
    this.socket = socket
    const ask = asker(socket)
    for (const kind of requestKinds)
      if (!LEFT_OUT.has(kind))
        Object.assign(this, { [kind]: ((request) => ask(kind, request)) as Handler<RequestKind> })
  }

  close(): void {
    this.socket.destroy()
  }
}

/**
 * Connects to an application that listens at `unix:///path` or `tcp://host:port`, in any language, for a test chain. It has to
 * speak the dialect of CometBFT 0.38 and later. Rejects with an error whose `code` is `address` for an address of another form,
 * and with the system's error when nobody listens there.
 * @example const application = await connectApplication('tcp://127.0.0.1:26658')
 */
export async function connectApplication(address: string): Promise<ConnectedApplication> {
  const socket = connect(needAddress(address) as NetConnectOpts)
  await once(socket, 'connect')
  return new Connected(socket) as ConnectedApplication
}
