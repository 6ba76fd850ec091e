import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Resolves with the signal when the process is asked to stop: by Ctrl-C, by SIGTERM, or because its terminal was closed. */
export const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, done)
  })

/** Resolves when the program that started this one with a channel has ended, even if it had before this is called. */
export const parentEnd = (): Promise<void> =>
  new Promise((done) => {
    if (process.connected === false) done()
    else process.once('disconnect', done)
  })

/**
 * Makes V8 collect garbage when the heap has grown to twice its live size, instead of several times. A node then takes
 * four fifths of the memory at the same rate of transactions. For processes that run for long.
 */
export const boundHeap = (): void => setFlagsFromString('--heap-growing-percent=100')

// How often a thread checks whether it is quiet, which means that it was busy for less than this part of the time.
const LOOK_MS = 5000
const QUIET = 0.3

// The growth since the last collection that makes a pause worth while.
const GROWN_BYTES = 16 * 1024 * 1024

/**
 * Collects garbage when this thread becomes quiet after much work. V8 collects only when memory is allocated, so an
 * idle thread would keep what a flood of calls has left (54 to 179 MB were measured after a minute). Not for the thread
 * that executes blocks, which it would delay.
 */
export function collectWhenQuiet(): void {
  setFlagsFromString('--expose-gc')
  // This flavor also returns empty pages to the system.
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  const size = (): number => getHeapStatistics().total_physical_size
  let before = performance.eventLoopUtilization()
  let kept = size()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > QUIET || size() < kept + GROWN_BYTES) return
    collect({ type: 'major', flavor: 'last-resort' })
    kept = size()
  }, LOOK_MS).unref()
}
