/** How a value stands in a column of a table, and the types of columns that every application needs. */
import { concat, fromHex, fromUtf8, toHex, u64be, utf8 } from '../base/bytes.ts'
import { show } from '../base/json.ts'

/** What a SQL column holds. Integers go in and come out as bigint: better-sqlite3 rounds them otherwise. */
export type SqlValue = string | bigint

/** What a member of a protobuf message holds. */
export type WireValue = string | number | boolean | Uint8Array

/**
 * The type of a column: how a value stands in SQL and in the bytes of its row. `T` is the value in memory, a text,
 * number, bigint or boolean. The falsy one ('', 0, 0n or false) is the default, which the bytes of a row leave out.
 *
 * All functions are methods, so that a ColumnType<string> may stand where a ColumnType<unknown> is asked for.
 *
 * @example
 * // A text of a few: a row with any other is refused when it is encoded.
 * const colour: ColumnType<'' | 'red' | 'blue'> = {
 *   ...text,
 *   toWire: (value) => { if (!['', 'red', 'blue'].includes(value)) throw new TypeError(value); return value },
 *   fromWire: (wire) => wire as 'red',
 *   fromSql: (sql) => sql as 'red',
 * }
 */
export interface ColumnType<T, Wire extends WireValue = WireValue> {
  /** The type of the member of a protobuf message. */
  readonly wireType: 'string' | 'uint64' | 'bool' | 'bytes'
  readonly sqlType: 'TEXT' | 'INTEGER'
  /** The canonical text of a value, which a column of type TEXT holds. */
  print(value: T): string
  /** The value of a SQL column: its text or, where `sqlType` says so, an integer. Throws for what is no value. */
  fromSql(sql: SqlValue): T
  toWire(value: T): Wire
  fromWire(wire: Wire): T
}

/** The type of a column of a key. Its bytes sort as its values do. */
export interface KeyColumnType<T, Wire extends WireValue = WireValue> extends ColumnType<T, Wire> {
  /** True when SQLite sorts the column as the bytes of the key. */
  readonly isSqlOrdered: boolean
  /** The bytes of a value in a state key. Use it in the keys of indexes too. */
  toKey(value: T): Uint8Array
  /** The value at `start` of a key and where the next one starts; undefined when the bytes are not one. */
  fromKey(key: Uint8Array, start: number): { readonly value: T; readonly next: number } | undefined
}

/** The `fromKey` of a value that always takes `length` bytes of a key. */
export function fixedLength<T>(length: number, read: (bytes: Uint8Array) => T): KeyColumnType<T>['fromKey'] {
  return (key, start) =>
    key.length < start + length ? undefined : { value: read(key.subarray(start, start + length)), next: start + length }
}

/** The value as it is. */
export const same = <T>(value: T): T => value

/** What a column is where it says nothing else: the same text in memory, in SQL and on the wire. */
export const plainColumn = {
  wireType: 'string',
  sqlType: 'TEXT',
  print: same,
  toWire: same,
  fromWire: same,
} as const

/**
 * A whole number of 0 to 2^53 − 1: a count, a height, a time. As a key it takes 8 bytes, the most significant first.
 *
 * @example
 * const blocks = table('blocks', { tag: 1, key: { height: uint }, row: { transactions: uint } })
 */
export const uint: KeyColumnType<number, number> = {
  wireType: 'uint64',
  sqlType: 'INTEGER',
  print: String,
  fromSql: Number,
  toWire: same,
  fromWire: same,
  isSqlOrdered: true,
  toKey: u64be,
  fromKey: fixedLength(8, (bytes) => Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0))),
}

/** A template literal makes a text of any value, and the row of such a text could not be read again. */
function printBigUint(value: bigint): string {
  if (typeof value !== 'bigint' || value < 0n) throw new TypeError(`expected a bigint from 0 on, got ${value}`)
  return `${value}`
}

/**
 * An integer of any size from 0 on, as a bigint: an amount of money. SQL and wire hold decimal text; on the wire zero is
 * left out. Your application sets the largest one.
 *
 * @example
 * const balances = table('balances', { tag: 1, key: { owner: text }, row: { amount: bigUint } })
 */
export const bigUint: ColumnType<bigint, string> = {
  ...plainColumn,
  print: printBigUint,
  fromSql: BigInt,
  toWire: (value) => (value === 0n ? '' : printBigUint(value)),
  fromWire: BigInt, // of '' it is 0n
}

const ZERO_BYTE = new Uint8Array(1)

/**
 * Text of any length, which must be well-formed Unicode (`isWellFormed`). As a key it ends with a zero byte, and a text
 * that holds one throws a RangeError.
 *
 * @example
 * const names = table('names', { tag: 1, key: { name: text }, row: { owner: text } })
 */
export const text: KeyColumnType<string, string> = {
  ...plainColumn,
  fromSql: (sql) => sql as string,
  isSqlOrdered: true,
  toKey: (value) => {
    if (value.includes('\0')) throw new RangeError('a key holds a zero byte')
    return concat(utf8(value), ZERO_BYTE)
  },
  fromKey: (key, start) => {
    const end = key.indexOf(0, start)
    const value = end < 0 ? undefined : fromUtf8(key.subarray(start, end))
    return value === undefined ? undefined : { value, next: end + 1 }
  },
}

function bytesOfHex(hex: string, length: number): Uint8Array {
  const bytes = fromHex(hex)
  if (bytes?.length !== length || hex !== toHex(bytes))
    throw new RangeError(`expected ${length} bytes in lower-case hex, got ${show(hex)}`)
  return bytes
}

function hexOfBytes(bytes: Uint8Array, length: number): string {
  if (bytes.length !== length) throw new RangeError(`expected ${length} bytes, got ${bytes.length}`)
  return toHex(bytes)
}

/**
 * `length` bytes, such as a public key or a hash, in lower-case hex in memory and in SQL; '' where there are none. The
 * wire and a key hold the bytes.
 *
 * @example
 * const accounts = table('accounts', { tag: 1, key: { publicKey: hexOf(32) }, row: { nonce: uint } })
 */
export const hexOf = (length: number): KeyColumnType<string, Uint8Array> => ({
  wireType: 'bytes',
  sqlType: 'TEXT',
  print: same,
  fromSql: (sql) => sql as string,
  toWire: (value) => (value === '' ? new Uint8Array(0) : bytesOfHex(value, length)),
  fromWire: (wire) => (wire.length === 0 ? '' : hexOfBytes(wire, length)),
  isSqlOrdered: true,
  toKey: (value) => bytesOfHex(value, length),
  fromKey: fixedLength(length, toHex),
})

/**
 * True or false. SQL: Y or N.
 *
 * @example
 * const names = table('names', { tag: 1, key: { name: text }, row: { owner: text, isLocked: bool } })
 */
export const bool: ColumnType<boolean, boolean> = {
  wireType: 'bool',
  sqlType: 'TEXT',
  print: (value) => (value ? 'Y' : 'N'),
  fromSql: (sql) => sql === 'Y',
  toWire: same,
  fromWire: same,
}
