import { Counter, Histogram, Registry } from 'prom-client'
import { addGauge } from '../../base/gauge.ts'
import { rpcErrors } from '../rpc/errors.ts'
import { methods } from '../rpc/methods/list.ts'
import { txEntries } from '../../modules/registry.ts'

/** What the gateway counts. */
export type Metrics = ReturnType<typeof createMetrics>

type Gauges = Readonly<Record<'height' | 'headAgeMs' | 'connected' | 'waiting' | 'subscriptions', () => number>>

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60]
const { nodeAway, notInBlock, mempoolFull } = rpcErrors
const OUTCOMES = [
  'ok',
  'check_tx_failed',
  'deliver_tx_failed',
  'defect',
  ...[nodeAway, notInBlock, mempoolFull].map(({ code }) => String(code)),
]

/** Metrics in a registry of their own; every series that always exists starts at 0. */
export function createMetrics({ height, headAgeMs, connected, waiting, subscriptions }: Gauges) {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'svc_rpc_requests_total',
    help: 'JSON-RPC calls by method and code',
    labelNames: ['method', 'code'],
    registers,
  })
  const duration = new Histogram({
    name: 'svc_rpc_duration_seconds',
    help: 'Duration of JSON-RPC calls',
    labelNames: ['method'],
    buckets: SECONDS,
    registers,
  })
  const results = new Counter({
    name: 'svc_tx_results_total',
    help: 'Transactions by operation and outcome',
    labelNames: ['operation', 'outcome'],
    registers,
  })
  const gauge = addGauge.bind(undefined, registry)
  gauge('svc_chain_height', 'Last block that the gateway has seen', height)
  gauge(
    'svc_head_age_seconds',
    'Seconds since the gateway saw the last new block, or since its start while it has seen none',
    () => headAgeMs() / 1000,
  )
  gauge('svc_feed_connected', '1 while the subscription to the node is up', connected)
  gauge('svc_subscriptions', 'Subscriptions of websockets', subscriptions)
  const slow = new Counter({
    name: 'svc_slow_readers_closed_total',
    help: 'Websockets that were closed because too much waited to be read',
    registers,
  })
  gauge('svc_tx_waiting', 'Transactions that are signed, sent or waited for', waiting)
  for (const method of [...methods.map(({ name }) => name), 'unknown']) {
    requests.inc({ method, code: method === 'unknown' ? rpcErrors.methodNotFound.code : 0 }, 0)
    duration.zero({ method })
  }
  for (const { operation } of txEntries) for (const outcome of OUTCOMES) results.inc({ operation, outcome }, 0)
  return {
    /** `code`: 0 for a result, else the JSON-RPC error's code. A method that does not exist is counted as `unknown`. */
    onCall: (method: string, code: number, seconds: number): void => {
      requests.inc({ method, code })
      duration.observe({ method }, seconds)
    },
    onOutcome: (operation: string, outcome: string): void => results.inc({ operation, outcome }),
    registry,
    onSlow: (): void => slow.inc(),
  }
}
