/** When a proposal may end: every propose* and the forms of the web page go by these. Source: protocol.md §6. */

/** Furthest point of a proposal, in blocks after its own. */
export const POINT_BLOCKS_MAX = 1_000_000
/** The same in seconds. */
export const POINT_SECONDS_MAX = 10_000_000

/** The block that a proposal comes in. `time`: Unix seconds. */
interface OwnBlock {
  readonly height: number
  readonly time: number
}

/** True when a proposal in this block may end at a height: behind it, and not too far. */
export const isPointHeight = (height: number, own: OwnBlock): boolean =>
  height > own.height && height <= own.height + POINT_BLOCKS_MAX

/** True when a proposal in this block may end at a time in Unix seconds. */
export const isPointTime = (time: number, own: OwnBlock): boolean =>
  time > own.time && time <= own.time + POINT_SECONDS_MAX
