/** How the power of a validator set is spread. */

/** Below this part of the power, one in so many, a member is too small to be seen in a strip as wide as a phone. */
const SEEN = 100

/** A validator set by its power, the most powerful first. */
export interface Spread<T> {
  readonly total: number
  /** Those who are large enough to be seen. */
  readonly large: readonly T[]
  /** The others: none, or at least two. */
  readonly small: readonly T[]
  /** So many of the most powerful have a third of the power: without them no block is made. */
  readonly third: number
  /** So many of the most powerful have two thirds of it, which decide proposals. */
  readonly twoThirds: number
}

/** Sorts a set by power, and counts how few have a third and two thirds of it. */
export function spreadOf<T extends { readonly power: number }>(members: readonly T[]): Spread<T> {
  const ordered = [...members].sort((a, b) => b.power - a.power)
  const total = ordered.reduce((sum, { power }) => sum + power, 0)
  const countTo = (thirds: number): number => {
    let sum = 0
    return ordered.findIndex(({ power }) => (sum += power) * 3 >= total * thirds) + 1
  }
  const seen = ordered.filter(({ power }) => power * SEEN >= total).length
  const split = ordered.length - seen === 1 ? ordered.length : seen
  return {
    total,
    large: ordered.slice(0, split),
    small: ordered.slice(split),
    third: countTo(1),
    twoThirds: countTo(2),
  }
}
