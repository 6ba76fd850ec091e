/** Checks one value on its way in or out; throws a TypeError that names where it stands. */
export type Convert = (value: unknown, where: string) => unknown

/** A scalar type: what stands for an absent member, and what it may hold. */
export interface Scalar {
  readonly fallback: () => unknown
  readonly convert: Convert
}

/** Refuses a value. `where` is the member's full name. */
export function refuse(where: string, expected: string, value: unknown): never {
  throw new TypeError(
    `${where}: expected ${expected}, got ${typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)}`,
  )
}

/** A value that passes `is` goes through as it is. */
const only =
  (expected: string, is: (value: unknown) => boolean): Convert =>
  (value, where) =>
    is(value) ? value : refuse(where, expected, value)

/** An integer within bounds; 64-bit members hold safe integers only, as protobufjs rounds the others without a word. */
export function integer(min: number, max: number): Convert {
  return only(
    `an integer from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
  )
}

const zero = (): number => 0
const signed64: Scalar = { fallback: zero, convert: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) }

/** The scalar types that our messages use, by their .proto names. */
export const SCALARS: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ['uint64', { fallback: zero, convert: integer(0, Number.MAX_SAFE_INTEGER) }],
  ['int64', signed64],
  ['sint64', signed64],
  ['uint32', { fallback: zero, convert: integer(0, 2 ** 32 - 1) }],
  ['int32', { fallback: zero, convert: integer(-(2 ** 31), 2 ** 31 - 1) }],
  ['bool', { fallback: () => false, convert: only('a boolean', (value) => typeof value === 'boolean') }],
  ['string', { fallback: () => '', convert: only('a string', (value) => typeof value === 'string') }],
  ['bytes', { fallback: () => new Uint8Array(0), convert: only('bytes', (value) => value instanceof Uint8Array) }],
])
