import { usedBytes } from '../support/usedBytes.ts'

/** What a campaign may leave in memory. */
export const GROWTH_BYTES_MAX = 50 * 1024 * 1024

/** Starts to measure; the function returned says how many bytes more are in use than then. */
export function measureGrowth(): () => number {
  const before = usedBytes()
  return () => usedBytes() - before
}

/** A number of bytes in MB for people; none where less is in use than before. */
export const megabytes = (bytes: number): string => `${(Math.max(0, bytes) / 1e6).toFixed(1)} MB`
