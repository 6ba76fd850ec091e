/**
 * A whole number from 0 to `below` − 1.
 * @example const isEven = random(2) === 0
 */
export type Random = (below: number) => number

/**
 * Creates a generator of pseudorandom numbers: the same ones for the same seed, on every machine.
 * @example const next = random(1)
 */
export function random(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** One of `values`; undefined when there are none. */
export const pick = <T>(next: Random, values: readonly T[]): T | undefined => values[next(values.length)]
