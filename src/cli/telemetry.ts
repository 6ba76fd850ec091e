import { once } from 'node:events'
import { createServer } from 'node:http'
import { collectDefaultMetrics, type Registry } from 'prom-client'
import { UserError } from './errors.ts'
import { type Endpoint, printEndpoint } from './settings.ts'

/**
 * Serves the metrics, and those of the process, as Prometheus text at `/metrics`; other paths answer 404. It holds no
 * secrets but does not limit callers, so it should listen on loopback. Throws a UserError when it cannot listen.
 */
export async function serveMetrics(endpoint: Endpoint, register: Registry): Promise<{ readonly close: () => void }> {
  collectDefaultMetrics({ register })
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
  await once(server.listen(endpoint), 'listening').catch(({ message }: Error) => {
    throw new UserError(`--metrics: cannot listen on ${printEndpoint(endpoint)}: ${message}`)
  })
  return { close: () => server.close().closeAllConnections() }
}
