import { createMetrics } from '../../src/gateway/metrics.ts'
import { gaugesOf } from '../../src/cli/telemetry.ts'
import { table } from './markdown.ts'

/** The series of the gateway, as its own `/metrics` describes them. */
export async function gatewayMetricsTable(): Promise<string> {
  const none = (): number => 0
  const text = await createMetrics({ height: none, headAgeMs: none, connected: none, waiting: none }).text()
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
  return table(
    ['Series', 'Type', 'Meaning'],
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => [
      `\`${name}\``,
      types.get(name) ?? '',
      help,
    ]),
  )
}

/** The series of the application. What they are read from is not asked. */
export function appMetricsTable(): string {
  const [store, snapshots, libraries] = [{}, '', {}] as unknown as Parameters<typeof gaugesOf>
  return table(
    ['Series', 'Type', 'Meaning'],
    gaugesOf(store, snapshots, libraries).map(([name, help]) => [`\`${name}\``, 'gauge', help]),
  )
}
