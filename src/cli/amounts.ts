import BigNumber from 'bignumber.js'
import { show } from '../base/json.ts'
import { UserError } from '../node/errors.ts'

/** What the help of an option that takes an amount adds to its meaning. */
export const AMOUNT_FORMS = 'in base units, or in tokens with their unit, such as 1.5token'

// A clone, because BigNumber.config would change the rounding of every other user in the process.
const Decimal = BigNumber.clone({ EXPONENTIAL_AT: 1e9 })

/** The most decimals of an amount in tokens: 1 token = 10^18 base units. */
const DECIMALS_MAX = 18

/**
 * Reads an amount as people write it, and returns it as the gateway takes it: `1.5token` and `"1.5 tokens"` become base
 * units in decimal text; a whole number is returned as it is, because the chain reads base units itself. Throws a
 * UserError that names the flag for a fraction without a unit, and for tokens with more than 18 decimals.
 */
export function parseAmount(text: string, flag: string): string {
  if (/^(?:\d+|0x[\da-fA-F]+)$/.test(text)) return text
  const [, whole, decimals = '', unit] = /^(\d{1,30})(?:\.(\d+))? ?(tokens?)?$/.exec(text) ?? []
  if (whole === undefined) throw new UserError(`${flag}: expected an amount ${AMOUNT_FORMS}, got ${show(text)}`)
  if (decimals.length > DECIMALS_MAX) {
    throw new UserError(
      `${flag}: a token has at most ${DECIMALS_MAX} decimals, but ${show(text)} has ${decimals.length}`,
    )
  }
  const units = new Decimal(`${whole}.${decimals}0`).shiftedBy(DECIMALS_MAX).toFixed()
  if (unit !== undefined) return units
  throw new UserError(`${flag}: ${text} has no unit. Write ${text}token, or ${units} for the same in base units`)
}

/** Base units, in decimal text, as a number of tokens: `1.5`. */
export const toTokens = (units: string): string => new Decimal(units).shiftedBy(-DECIMALS_MAX).toFixed()

/** Prints base units in the form that `parseAmount` reads: `1.5 tokens`, `1 token`. */
export function printTokens(units: string): string {
  const tokens = toTokens(units)
  return `${tokens} ${tokens === '1' ? 'token' : 'tokens'}`
}
