/** True for a JSON object, which null and an array are not. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses JSON. Returns undefined for text that is not JSON; no JSON text has that value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text, cut to at most `lengthMax` characters. The last three of them are dots if something was left out. */
export const cut = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax - 3)}...` : text

/** A value as JSON for an error message, cut to 80 characters. */
export const show = (given: unknown): string =>
  cut(given === undefined ? 'nothing' : (JSON.stringify(given) ?? String(given)), 80)

/** How many characters of an unknown name an error message repeats. */
export const UNKNOWN_NAME_LENGTH_MAX = 100
