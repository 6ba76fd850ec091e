import { createServer } from 'node:http'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { type Endpoint, printEndpoint } from './settings.ts'
import { UserError } from './userError.ts'

/** One series: it is read when somebody asks, so it is there from the start. */
export type GaugeLine = readonly [name: string, help: string, read: () => number]

/**
 * Serves gauges and those of the process as Prometheus text at `/metrics`; anything else is 404. Throws a UserError
 * when it cannot listen. Bound: no secrets are in it, but no limit on who asks either: listen on loopback.
 */
export async function serveMetrics(
  endpoint: Endpoint,
  gauges: readonly GaugeLine[],
): Promise<{ readonly close: () => void }> {
  const register = new Registry()
  collectDefaultMetrics({ register })
  for (const [name, help, read] of gauges)
    new Gauge({
      name,
      help,
      registers: [register],
      collect() {
        this.set(read())
      },
    })
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    register.metrics().then(
      (text) => response.writeHead(200, { 'content-type': register.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((done, failed) => {
    server.once('error', ({ message }) =>
      failed(new UserError(`--metrics: cannot listen on ${printEndpoint(endpoint)}: ${message}`)),
    )
    server.listen(endpoint, done)
  })
  return {
    close: () => {
      server.close().closeAllConnections()
    },
  }
}
