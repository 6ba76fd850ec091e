import { createServer } from 'node:http'

/** A gateway's stand-in that passes every call on to `target` and keeps the last answer. */
export interface Recorder {
  readonly url: string
  readonly last: () => { readonly result?: unknown }
  readonly close: () => Promise<void>
}

/** Starts one on a free port. */
export async function startRecorder(target: string): Promise<Recorder> {
  let last: { readonly result?: unknown } = {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    })
    const text = await answer.text()
    last = JSON.parse(text) as typeof last
    response.setHeader('content-type', 'application/json')
    response.end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { readonly port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    last: () => last,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}
