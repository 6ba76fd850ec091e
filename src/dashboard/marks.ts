/**
 * Characters in the text of strangers that are not seen, or that look like a space and are none: those that turn the
 * writing direction around, that join what is apart, or that let one name pass for another; and marks that pile up on a
 * letter. The page shows them as what they are. Two joiners and the variation selectors are part of how some scripts and
 * emoji are written, and count only beside ASCII or nothing.
 */
const UNSEEN = [
  /(?!\u200C|\u200D|\p{Variation_Selector}|[\n\r\t ])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Z}\u2800]/u,
  // U+20E3 draws a box around a digit with one. A second one does nothing.
  /(?<=^|\p{ASCII}|\p{Variation_Selector})\p{Variation_Selector}(?!\u20E3)/u,
  /(?<=^|\p{ASCII})(?:\u200C|\u200D)/u,
  /(?:\u200C|\u200D)(?=$|\p{ASCII})/u,
  // The sixth mark on a letter and those behind it: they cover what stands around it, and no script needs so many.
  /(?<=\p{M}{5})\p{M}/u,
]

const PARTS = new RegExp(`(${UNSEEN.map(({ source }) => source).join('|')})`, 'u')

/** What a character is called: `U+202E`. */
const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A text in parts: every second one, from the second on, is such a character by its code. */
export const partsOf = (text: string): readonly string[] =>
  text.split(PARTS).map((part, at) => (at % 2 === 0 ? part : codeOf(part)))

/** A text of strangers as an attribute, a title or a file holds it: `[U+202E]` for each such character. */
export const visibleText = (text: string): string =>
  partsOf(text)
    .map((part, at) => (at % 2 === 0 ? part : `[${part}]`))
    .join('')
