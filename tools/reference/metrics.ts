import type { Registry } from 'prom-client'
import { createAppMetrics, type MetricsSources } from '../../src/node/metrics.ts'
import { createMetrics } from '../../src/gateway/http/metrics.ts'
import { table } from './markdown.ts'

/** The series of a registry in the order in which they were made. What they are read from is not asked. */
const seriesOf = (registry: Registry): string =>
  table(
    ['Series', 'Type', 'Meaning'],
    registry.getMetricsAsArray().map(({ name, help, type }) => [`\`${name}\``, String(type), help]),
  )

const none = (): number => 0

/** The series of the gateway. */
export const gatewayMetricsTable = (): string =>
  seriesOf(
    createMetrics({ height: none, headAgeMs: none, connected: none, waiting: none, subscriptions: none }).registry,
  )

/** The series of the application. */
export const appMetricsTable = (): string =>
  seriesOf(createAppMetrics({ build: { program_version: 1, os: 'ubuntu' } } as MetricsSources).registry)
