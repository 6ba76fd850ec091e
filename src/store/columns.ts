import { type Address, addressBytes, addressOf, ADDRESS_BYTES, parseAddress } from '../base/address.ts'
import { type Amount, parseDecimal } from '../base/amount.ts'
import { concat, fromUtf8, u64be, utf8 } from '../base/bytes.ts'
import {
  KEY_BYTES,
  parseProposalId,
  parsePubKey,
  type ProposalId,
  proposalIdBytes,
  proposalIdOf,
  type PubKey,
  pubKeyBytes,
  pubKeyOf,
} from '../base/pubKey.ts'
import { parseRatio, printRatio, type Ratio } from '../base/ratio.ts'

/** What a SQL column holds. Integers go in and come out as bigint: better-sqlite3 rounds them otherwise. */
export type SqlValue = string | bigint

/** What a member of a row message holds. */
export type WireValue = string | number | boolean | Uint8Array

/**
 * One kind of column: a value in memory, in SQL (as a person reads it), and in the row's protobuf message (as it is
 * hashed). Methods, not members: TypeScript then takes a Column<Address> for a Column<unknown>.
 */
export interface Column<T> {
  readonly sqlType: 'TEXT' | 'INTEGER'
  toSql(value: T): SqlValue
  fromSql(value: SqlValue): T
  toWire(value: T): WireValue
  fromWire(value: WireValue): T
  /** True for the value that the message leaves out. */
  isDefault(value: T): boolean
}

/** A column that may stand in a key: its bytes sort as its values do. */
export interface KeyColumn<T> extends Column<T> {
  toKey(value: T): Uint8Array
  /** The value at `at` of a key and where the next one starts; undefined when the bytes are not one. */
  fromKey(key: Uint8Array, at: number): { readonly value: T; readonly next: number } | undefined
  /** The value in one part of a `/store/<table>/<key>` path; undefined when it is not one. */
  parse(text: string): T | undefined
}

function fixed<T>(length: number, of: (bytes: Uint8Array) => T) {
  return (key: Uint8Array, at: number): { value: T; next: number } | undefined =>
    key.length < at + length ? undefined : { value: of(key.subarray(at, at + length)), next: at + length }
}

const nothing = new Uint8Array(0)

/** An account address. SQL: the 0x text. */
export const address: KeyColumn<Address> = {
  sqlType: 'TEXT',
  toSql: (value) => value,
  fromSql: (value) => value as Address,
  toWire: addressBytes,
  fromWire: (value) => addressOf(value as Uint8Array),
  isDefault: () => false,
  toKey: addressBytes,
  fromKey: fixed(ADDRESS_BYTES, addressOf),
  parse: parseAddress,
}

/** An account address, or '' where none is set. */
export const addressOrNone: Column<Address | ''> = {
  sqlType: 'TEXT',
  toSql: (value) => value,
  fromSql: (value) => value as Address | '',
  toWire: (value) => (value === '' ? nothing : addressBytes(value)),
  fromWire: (value) => ((value as Uint8Array).length === 0 ? '' : addressOf(value as Uint8Array)),
  isDefault: (value) => value === '',
}

// Standard base64 holds '/', which separates the parts of a path: there the URL-safe alphabet is read too.
const standard = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '=')

/** An ed25519 public key. SQL: base64. */
export const pubKey: KeyColumn<PubKey> = {
  sqlType: 'TEXT',
  toSql: (value) => value,
  fromSql: (value) => value as PubKey,
  toWire: pubKeyBytes,
  fromWire: (value) => pubKeyOf(value as Uint8Array),
  isDefault: () => false,
  toKey: pubKeyBytes,
  fromKey: fixed(KEY_BYTES, pubKeyOf),
  parse: (text) => parsePubKey(standard(text)),
}

/** A proposal's id. SQL: base64. */
export const proposalId: KeyColumn<ProposalId> = {
  sqlType: 'TEXT',
  toSql: (value) => value,
  fromSql: (value) => value as ProposalId,
  toWire: proposalIdBytes,
  fromWire: (value) => proposalIdOf(value as Uint8Array),
  isDefault: () => false,
  toKey: proposalIdBytes,
  fromKey: fixed(KEY_BYTES, proposalIdOf),
  parse: (text) => parseProposalId(standard(text)),
}

function parseU64(text: string): number | undefined {
  const value = text.length <= 16 ? parseDecimal(text) : undefined
  return value !== undefined && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined
}

/** A count, height, id or time: a safe integer. As a key 0 to 2^53 − 1 in 8 bytes, most significant first. */
export const u64: KeyColumn<number> = {
  sqlType: 'INTEGER',
  toSql: (value) => BigInt(value),
  fromSql: (value) => Number(value),
  toWire: (value) => value,
  fromWire: (value) => value as number,
  isDefault: (value) => value === 0,
  toKey: u64be,
  parse: parseU64,
  fromKey: fixed(8, (bytes) => Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0))),
}

const ZERO_BYTE = new Uint8Array(1)

/** Text. As a key it ends with a zero byte and holds none. */
export const text: KeyColumn<string> = {
  sqlType: 'TEXT',
  toSql: (value) => value,
  fromSql: (value) => value as string,
  toWire: (value) => value,
  fromWire: (value) => value as string,
  isDefault: (value) => value === '',
  toKey: (value) => concat(utf8(value), ZERO_BYTE),
  fromKey: (key, at) => {
    const end = key.indexOf(0, at)
    const value = end < 0 ? undefined : fromUtf8(key.subarray(at, end))
    return value === undefined ? undefined : { value, next: end + 1 }
  },
  parse: (value) => (value === '' || value.includes('\0') ? undefined : value),
}

/** An amount. SQL: decimal text. On the wire zero is the empty text. */
export const amount: Column<Amount> = {
  sqlType: 'TEXT',
  toSql: (value) => value.toString(),
  fromSql: (value) => BigInt(value),
  toWire: (value) => (value === 0n ? '' : value.toString()),
  fromWire: (value) => (value === '' ? 0n : BigInt(value as string)),
  isDefault: (value) => value === 0n,
}

function readRatio(value: SqlValue): Ratio {
  const read = parseRatio(value as string)
  if (read === undefined) throw new Error(`no ratio: ${value}`)
  return read
}

/** A ratio. SQL: decimal text. On the wire zero is the empty text. */
export const ratio: Column<Ratio> = {
  sqlType: 'TEXT',
  toSql: printRatio,
  fromSql: readRatio,
  toWire: (value) => (value === 0n ? '' : printRatio(value)),
  fromWire: (value) => (value === '' ? 0n : (parseRatio(value as string) as Ratio)),
  isDefault: (value) => value === 0n,
}

/** Yes or no. SQL: Y or N. */
export const flag: Column<boolean> = {
  sqlType: 'TEXT',
  toSql: (value) => (value ? 'Y' : 'N'),
  fromSql: (value) => value === 'Y',
  toWire: (value) => value,
  fromWire: (value) => value as boolean,
  isDefault: (value) => !value,
}
