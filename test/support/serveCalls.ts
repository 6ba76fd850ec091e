import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A JSON-RPC call as it came. */
export interface ServedCall {
  readonly id?: number
  readonly method: string
  readonly params: unknown
}

/** What is answered: the `result` or `error` of the call, text as it stands, or nothing at all. */
type Answer = object | string | undefined

/** A server that takes JSON-RPC calls over HTTP, on a free port. */
export async function serveCalls(answer: (call: ServedCall, request: IncomingMessage) => Answer | Promise<Answer>) {
  const server = createServer(async (request, response) => {
    const call = JSON.parse((await text(request)) || '{}') as ServedCall
    const given = await answer(call, request)
    if (given === undefined) return
    response.end(typeof given === 'string' ? given : JSON.stringify({ jsonrpc: '2.0', id: call.id, ...given }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, close }
}
