import { Gauge, type Registry } from 'prom-client'

/** Adds a gauge to a registry. Its value is read with each request for the metrics. */
export function addGauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}
