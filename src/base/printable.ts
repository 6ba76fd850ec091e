// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/**
 * Makes text that anybody may have put on the chain safe for a terminal: control and direction characters become
 * escapes.
 */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
