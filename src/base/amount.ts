/** Base units: an integer of 0 to 10^36. 1 token = 10^18 units. Source: protocol.md §1. */
export type Amount = bigint

/** Base units in one token. */
export const TOKEN: Amount = 10n ** 18n

/** The largest amount that anything may name. */
export const AMOUNT_MAX: Amount = 10n ** 36n

/** The integer in canonical decimal text (`0|[1-9][0-9]*`), or undefined. It has no bound: check the length first. */
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

/** A ratio as an integer scaled by 10^18: 10^18 is 1. Source: protocol.md §1. */
export type Ratio = bigint

/** The ratio 1. */
export const ONE: Ratio = 10n ** 18n

/** The ratio in text: a decimal integer of up to 30 digits, then up to 18 decimals; undefined for any other text. */
export function parseRatio(text: string): Ratio | undefined {
  const found = /^(0|[1-9][0-9]{0,29})(?:\.([0-9]{1,18}))?$/.exec(text)
  return found === null ? undefined : BigInt(found[1] as string) * ONE + BigInt((found[2] ?? '').padEnd(18, '0'))
}

/** Decimal text without trailing zeros: `0.5`, `1`, `0`. */
export function printRatio(ratio: Ratio): string {
  const decimals = (ratio % ONE).toString().padStart(18, '0').replace(/0+$/, '')
  return decimals === '' ? `${ratio / ONE}` : `${ratio / ONE}.${decimals}`
}

/** floor(amount × ratio). */
export const shareFloor = (amount: bigint, ratio: Ratio): bigint => divFloor(amount * ratio, ONE)

/** ceil(amount × ratio). */
export const shareCeil = (amount: bigint, ratio: Ratio): bigint => divCeil(amount * ratio, ONE)
