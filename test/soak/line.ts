/** A value at a time, in ms. */
export interface Point {
  readonly atMs: number
  readonly value: number
}

/** A line through points. `error`: by how much the slope may be wrong either way, in about 19 of 20 runs. */
export interface Line {
  readonly slopePerHour: number
  readonly error: number
}

const HOUR_MS = 3_600_000
const BUCKETS_MAX = 24
const SIGMAS = 2

/**
 * The lowest value in each of equally long stretches of time. Memory goes up and down with each collection of garbage;
 * what stays is the least of it. Points that follow each other closely are also far more alike than a line's error
 * supposes.
 */
function lowest(points: readonly Point[]): readonly Point[] {
  const [first, last] = [points[0]?.atMs ?? 0, points.at(-1)?.atMs ?? 0]
  const count = Math.min(BUCKETS_MAX, points.length)
  const found: (Point | undefined)[] = Array.from({ length: count }, () => undefined)
  for (const point of points) {
    const at = Math.min(count - 1, Math.floor(((point.atMs - first) / (last - first || 1)) * count))
    const known = found[at]
    if (known === undefined || point.value < known.value) found[at] = point
  }
  return found.filter((point) => point !== undefined)
}

/** Fits a line to the lowest values, by least squares. Everything is NaN for fewer than three. */
export function fitLine(points: readonly Point[]): Line {
  const rows = lowest(points)
  const n = rows.length
  if (n < 3) return { slopePerHour: Number.NaN, error: Number.NaN }
  const mean = (of: (point: Point) => number): number => rows.reduce((sum, point) => sum + of(point), 0) / n
  const [middleMs, middle] = [mean(({ atMs }) => atMs), mean(({ value }) => value)]
  const spread = rows.reduce((sum, { atMs }) => sum + (atMs - middleMs) ** 2, 0)
  const slope = rows.reduce((sum, { atMs, value }) => sum + (atMs - middleMs) * (value - middle), 0) / spread
  const rest = rows.reduce((sum, { atMs, value }) => sum + (value - middle - slope * (atMs - middleMs)) ** 2, 0)
  return {
    slopePerHour: slope * HOUR_MS,
    error: SIGMAS * Math.sqrt(rest / (n - 2) / spread) * HOUR_MS,
  }
}
