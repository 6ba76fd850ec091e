import { once } from 'node:events'
import { createServer } from 'node:http'
import { destination, type Logger, pino } from 'pino'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { listSnapshots } from '../store/snapshot/folder.ts'
import type { Store } from '../store/store.ts'
import { UserError } from './errors.ts'
import type { Libraries } from './libraries.ts'
import { type Endpoint, printEndpoint } from './settings.ts'

/** The most bytes of log lines that wait for the disk; further lines are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/**
 * Opens a log that writes to the file or file descriptor `dest`. `sync`: each line is written before the call returns.
 * A full disk costs log lines and nothing else; without the listener the first failed write would end the process.
 */
export function openLog(dest: string | number, sync = true): Logger {
  const stream = destination({ dest, sync, mkdir: true, maxLength: WAITING_BYTES_MAX })
  stream.on('error', () => undefined)
  return pino({ base: {} }, stream)
}

/** A gauge, whose value is read with each request. */
type GaugeLine = readonly [name: string, help: string, read: () => number]

/**
 * Serves the gauges and those of the process as Prometheus text at `/metrics`; other paths answer 404. It holds no
 * secrets but does not limit callers, so it should listen on loopback. Throws a UserError when it cannot listen.
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
  await once(server.listen(endpoint), 'listening').catch(({ message }: Error) => {
    throw new UserError(`--metrics: cannot listen on ${printEndpoint(endpoint)}: ${message}`)
  })
  return { close: () => server.close().closeAllConnections() }
}

const newestHeight = (snapshots: string): number => listSnapshots(snapshots)[0]?.metadata.height ?? 0

/** The application's own gauges. */
export const gaugesOf = (store: Store, snapshots: string, libraries: Libraries): readonly GaugeLine[] => [
  ['svc_app_height', 'Last committed block', () => store.height()],
  ['svc_app_snapshot_height', 'Newest snapshot, 0 while there is none', () => newestHeight(snapshots)],
  ['svc_eni_staged', 'Libraries that are fetched and wait for their block', () => libraries.count('ready')],
  ['svc_eni_deployed', 'Libraries in place', () => libraries.count('deployed')],
  ['svc_eni_failed', 'Libraries that no URL gave so far', () => libraries.count('failed', 'collapsed')],
]
