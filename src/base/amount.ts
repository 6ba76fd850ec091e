/** Base units: an integer of 0 to 10^36. 1 token = 10^18 units. Source: protocol.md §1. */
export type Amount = bigint

/** Base units in one token. */
export const TOKEN: Amount = 10n ** 18n

/** The largest amount that anything may name. */
export const AMOUNT_MAX: Amount = 10n ** 36n

/**
 * The integer in canonical decimal text (`0|[1-9][0-9]*`); undefined for any other text. No bound of its own: check the
 * length first.
 */
export function parseDecimal(text: string): bigint | undefined {
  return /^(?:0|[1-9][0-9]*)$/.test(text) ? BigInt(text) : undefined
}

/** The amount in canonical decimal text; undefined when it is not one, or above AMOUNT_MAX. */
export function parseAmount(text: string): Amount | undefined {
  const value = text.length <= 37 ? parseDecimal(text) : undefined
  return value !== undefined && value <= AMOUNT_MAX ? value : undefined
}

/** The smaller of two. */
export const minOf = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The larger of two. */
export const maxOf = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** a / b rounded down, for a ≥ 0 and b > 0. */
export function divFloor(a: bigint, b: bigint): bigint {
  if (a < 0n || b <= 0n) throw new RangeError(`divFloor(${a}, ${b})`)
  return a / b
}

/** a / b rounded up, for a ≥ 0 and b > 0. */
export function divCeil(a: bigint, b: bigint): bigint {
  return divFloor(a + b - 1n, b)
}
