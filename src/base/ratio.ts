import { divCeil, divFloor } from './amount.ts'

/** A ratio as an integer scaled by 10^18: 10^18 is 1. Source: protocol.md §1. */
export type Ratio = bigint

/** The ratio 1. */
export const ONE: Ratio = 10n ** 18n

/**
 * The ratio in text: a decimal integer, then up to 18 decimals; undefined for any other text. The integer part has at
 * most 30 digits.
 */
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
