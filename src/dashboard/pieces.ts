/**
 * What happens on the chain, in words: operations as what they ask for (`send 5 token to …`), events as what became of
 * it (`joined the validator set`). Both begin in lower case and leave out who did it, so that a view can put a name
 * before them or begin a sentence with them.
 */

/** A piece of such words: plain text, or a thing that a view shows in its own way. */
export type Piece =
  | string
  | {
      readonly kind:
        | 'account'
        | 'validator'
        | 'key'
        | 'tokens'
        | 'proposal'
        | 'request'
        | 'parameter'
        | 'height'
        | 'stranger'
      readonly value: string
    }

export const piece = (kind: Exclude<Piece, string>['kind'], value: string): Piece => ({ kind, value })

/** What happened or is asked for, piece by piece. */
export type Words = readonly Piece[]

/** The words as a text, for CSV and titles; `printTokens` writes an amount in base units. */
export const plainText = (words: Words, printTokens: (units: string) => string): string =>
  words
    .map((one) =>
      typeof one === 'string' ? one : one.kind === 'tokens' ? `${printTokens(one.value)} token` : one.value,
    )
    .join('')

/** The same words with a capital at the beginning, as a sentence begins. */
export function capitalised([first, ...rest]: Words): Words {
  if (first === undefined) return []
  return typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : [first, ...rest]
}
