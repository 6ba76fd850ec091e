import { createServer } from 'node:http'
import { destination, type Logger, pino } from 'pino'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { listSnapshots } from '../store/snapshot/folder.ts'
import type { Store } from '../store/store.ts'
import { UserError } from './errors.ts'
import type { Libraries } from './libraries.ts'
import { type Endpoint, printEndpoint } from './settings.ts'

/** Most bytes of lines that wait for a disk that takes none; more are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/**
 * A log that goes to the file or file descriptor `dest`. `sync`: each line is written before the call returns. A disk
 * that is full or gone loses log lines and nothing else: without the listener the first failed write would end the
 * process.
 */
export function openLog(dest: string | number, sync = true): Logger {
  const stream = destination({ dest, sync, mkdir: true, maxLength: WAITING_BYTES_MAX })
  stream.on('error', () => undefined)
  return pino({ base: {} }, stream)
}

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

/** What can be asked at `/metrics`: one line each. */
export const gaugesOf = (store: Store, snapshots: string, libraries: Libraries): readonly GaugeLine[] => [
  ['svc_app_height', 'Last committed block', () => store.height()],
  [
    'svc_app_snapshot_height',
    'Newest snapshot, 0 while there is none',
    () => listSnapshots(snapshots)[0]?.metadata.height ?? 0,
  ],
  ['svc_eni_staged', 'Libraries that are fetched and wait for their block', () => libraries.count('ready')],
  ['svc_eni_deployed', 'Libraries in place', () => libraries.count('deployed')],
  ['svc_eni_failed', 'Libraries that no URL gave so far', () => libraries.count('failed', 'collapsed')],
]
