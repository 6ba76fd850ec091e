import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** What a bent answer holds: the JSON-RPC answer as parsed, changed in place. */
export type Bend = (method: string, answer: Answer) => void

type Answer = Readonly<Record<string, unknown>>

interface Call {
  readonly id: unknown
  readonly method: string
}

/** Somebody between a JSON-RPC client and its server, who hands on what both say and may change the answers. */
export interface Between {
  readonly url: string
  bend: Bend | undefined
  readonly close: () => Promise<void>
}

/** Hands a WebSocket through as it is: the light client wants one of its node before it starts. */
function tunnel(target: string, { method, url, rawHeaders }: IncomingMessage, caller: Socket): void {
  const { hostname, port } = new URL(target)
  const server = connect(Number(port), hostname)
  const headers = rawHeaders.map((one, at) => one + (at % 2 === 0 ? ': ' : '\r\n')).join('')
  server.write(`${method} ${url} HTTP/1.1\r\n${headers}\r\n`)
  caller.pipe(server).pipe(caller)
  for (const [one, other] of [
    [caller, server],
    [server, caller],
  ] as const) {
    one.on('error', () => {}).once('close', () => other.destroy())
  }
}

/** Stands in front of the server at `target`. Calls come as POST. */
export async function standBetween(target: string): Promise<Between> {
  const hand = async (incoming: IncomingMessage): Promise<string> => {
    const body = await text(incoming)
    const response = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = (await response.json()) as Answer | readonly Answer[]
    // Both are lists when the calls are a batch.
    const answers = [answer].flat()
    for (const { id, method } of [JSON.parse(body) as Call | readonly Call[]].flat()) {
      const own = answers.find((one) => one['id'] === id)
      if (own !== undefined) between.bend?.(method, own)
    }
    return JSON.stringify(answer)
  }
  const sockets = new Set<Socket>()
  const server = createServer((incoming, outgoing) => {
    hand(incoming).then(
      (answer) => outgoing.setHeader('content-type', 'application/json').end(answer),
      () => outgoing.writeHead(502).end(),
    )
  })
  server.on('upgrade', (incoming, socket) => {
    sockets.add(socket as Socket)
    tunnel(target, incoming, socket as Socket)
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  const between: Between = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bend: undefined,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
        for (const socket of sockets) socket.destroy()
      }),
  }
  return between
}
