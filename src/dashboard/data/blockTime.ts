import { head, recentBlocks } from './chain.ts'
import { useStore } from './store.ts'

/** Seconds a block took, on average of the latest ones; undefined while fewer than two are known. */
function secondsPerBlock(): number | undefined {
  const blocks = recentBlocks.get()
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined || first === last) return undefined
  return (Date.parse(last.time) - Date.parse(first.time)) / 1000 / (last.height - first.height)
}

/** When a block is to be expected, and the block of a time, judged by the time of the latest ones. */
export interface Clock {
  readonly height: number
  readonly timeMs: number
  /** Undefined while too few blocks are known. */
  readonly secondsPerBlock: number | undefined
}

/** The chain's clock; undefined while the page knows of no block. */
export function useClock(): Clock | undefined {
  const newest = useStore(head)
  if (newest === undefined) return undefined
  return { height: newest.height, timeMs: Date.parse(newest.time), secondsPerBlock: secondsPerBlock() }
}

/** When a block will be made, or was, in ms of the chain's time, as far as the latest ones let expect. */
export function useTimeOfHeight(height: number): number | undefined {
  const clock = useClock()
  return clock?.secondsPerBlock === undefined
    ? undefined
    : clock.timeMs + (height - clock.height) * clock.secondsPerBlock * 1_000
}
