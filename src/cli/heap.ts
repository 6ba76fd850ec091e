import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// V8 lets a heap grow to several times of what lives in it before it collects: most of a node's memory would be
// garbage. At twice, a node takes four fifths of the memory, with the same rate of transactions.
const GROWTH_PERCENT = 100

/** Collects garbage when the heap has grown by GROWTH_PERCENT since the last time. For a process that runs for long. */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

// How often a thread looks whether it is quiet: whether it has worked for less than this part of the time.
const LOOK_MS = 5000
const QUIET = 0.3

// What a heap has grown by since the last collection when a pause is worth it.
const GROWN_BYTES = 16 * 1024 * 1024

/**
 * Gives the memory of this thread's heap back when much work is followed by quiet. V8 collects garbage when more is
 * allocated, so a thread that has nothing to do would keep what a flood of calls has left: 54 to 179 MB after a minute.
 * Not for the thread that executes blocks, which it would hold up.
 */
export function collectWhenQuiet(): void {
  setFlagsFromString('--expose-gc')
  // This flavour also gives empty pages back to the system.
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
