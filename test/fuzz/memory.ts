import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What a campaign may leave in memory. */
export const GROWTH_BYTES_MAX = 50 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that are in use after a collection, outside V8's heap as well. */
function bytesInUse(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Starts to measure; the function returned says how many bytes more are in use than then. */
export function measureGrowth(): () => number {
  const before = bytesInUse()
  return () => bytesInUse() - before
}

/** A number of bytes in MB for people; none where less is in use than before. */
export const megabytes = (bytes: number): string => `${(Math.max(0, bytes) / 1e6).toFixed(1)} MB`
