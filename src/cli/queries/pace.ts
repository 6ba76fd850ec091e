/** How much may be answered in whole lists. Times are ms of one clock. */
export interface Pace {
  /** True while what was used is more than has come back since. */
  isUsedUp(nowMs: number): boolean
  use(bytes: number, nowMs: number): void
  /** What whoever is refused is told. */
  readonly why: string
}

/**
 * A pace of so many bytes a second; after a rest a second's worth may be used at once, and the last use may go beyond
 * it.
 */
export function createPace(bytesPerSecond: number): Pace {
  let left = bytesPerSecond
  let atMs = 0
  const refill = (nowMs: number): void => {
    left = Math.min(bytesPerSecond, left + ((nowMs - atMs) * bytesPerSecond) / 1000)
    atMs = nowMs
  }
  return {
    isUsedUp: (nowMs) => {
      refill(nowMs)
      return left <= 0
    },
    use: (bytes, nowMs) => {
      refill(nowMs)
      left -= bytes
    },
    why: `whole lists are answered at ${bytesPerSecond} bytes a second, and these are used up`,
  }
}
