import { once } from 'node:events'
import { createServer } from 'node:http'
import { collectDefaultMetrics, type Registry } from 'prom-client'
import { refusedOrigin } from '../gateway/http/access.ts'
import { allowHalfOpen } from '../gateway/http/connections.ts'
import { listenError } from '../node/listenError.ts'
import { type Endpoint, printEndpoint } from '../node/settings.ts'

/**
 * Adds the metrics of the process. prom-client has gauges with names of counters, which promtool refuses; each is the sum
 * of one that stays.
 */
function addProcess(register: Registry): void {
  collectDefaultMetrics({ register })
  for (const { name, type } of register.getMetricsAsArray())
    if (String(type) === 'gauge' && name.endsWith('_total')) register.removeSingleMetric(name)
}

/**
 * Serves the metrics, and those of the process, as Prometheus text at `/metrics`; other paths answer 404. It holds no
 * secrets but does not limit callers, so it should listen on loopback, where pages of other sites are refused. Throws a
 * UserError when it cannot listen.
 */
export async function serveMetrics(endpoint: Endpoint, register: Registry): Promise<{ readonly close: () => void }> {
  addProcess(register)
  const guard = { host: endpoint.host, allowHosts: [], allowOrigins: [] }
  // A packet holds a thousand requests, and each text takes milliseconds: all who ask meanwhile get the same one.
  let making: Promise<string> | undefined
  const makeText = (): Promise<string> => (making ??= register.metrics().finally(() => (making = undefined)))
  const server = createServer((request, response) => {
    if (refusedOrigin(guard, request.headers) !== undefined) {
      response.writeHead(403).end()
      return
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    makeText().then(
      (text) => response.writeHead(200, { 'content-type': register.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await once(allowHalfOpen(server).listen(endpoint), 'listening').catch(async (error: unknown) => {
    throw await listenError(error, `--metrics: cannot listen on ${printEndpoint(endpoint)}`, endpoint)
  })
  return { close: () => server.close().closeAllConnections() }
}
