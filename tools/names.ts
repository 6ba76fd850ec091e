/** The same text with its first letter large. */
export const upper = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`

/** A name with its words in small letters and `separator` between them: `raise_limit` for `raiseLimit`. */
export const words = (name: string, separator: '_' | '-' | ' '): string =>
  name.replace(/[A-Z]/g, (letter) => `${separator}${letter.toLowerCase()}`)

/** A name with its words in one, as `words` takes them apart: `raiseLimit` for `raise_limit`. */
export const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
