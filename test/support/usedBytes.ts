import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Runs the collector and says what is in use: in the heap, and beside it. */
export function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
