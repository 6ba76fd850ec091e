/** True for an object of JSON: not null, not an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The text in at most `lengthMax` characters, the last three of them dots when some were left out. */
export const cut = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax - 3)}...` : text

/** What was given, for an error message: at most 80 characters of JSON. */
export const show = (given: unknown): string =>
  cut(given === undefined ? 'nothing' : (JSON.stringify(given) ?? String(given)), 80)

/** Most characters of a name in what is said of it, when it is the name of nothing. */
export const UNKNOWN_NAME_LENGTH_MAX = 100
