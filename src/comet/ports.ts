import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Why nothing can listen on `host`:`port`, tried and given up at once; undefined when it can. */
export const listenError = (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((done) => {
    const server = createServer().once('error', done)
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)))
  })

/** A port of 127.0.0.1 that nothing listens on. */
export const freePort = (): Promise<number> =>
  new Promise((done, failed) => {
    const server = createServer()
      .once('error', failed)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        server.close(() => done(port))
      })
  })
