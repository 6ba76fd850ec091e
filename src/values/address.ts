import { fromHex, toBase64, toHex } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'
import { fixedLength } from './column.ts'
import { type KeyType, plainText, stringOf, type ValueType } from './valueType.ts'

declare const brand: unique symbol

/** An account: `0x` and 40 lower-case hex digits. Source: protocol.md §1. */
export type Address = string & { readonly [brand]: 'address' }

/** Bytes of an address. */
export const ADDRESS_BYTES = 20

/** The address whose 20 bytes these are. Throws on another length: check what came from outside first. */
export function addressOf(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError(`an address has ${ADDRESS_BYTES} bytes, got ${bytes.length}`)
  return `0x${toHex(bytes)}` as Address
}

/** The address in `text`, any letter case; undefined unless it is 0x and 40 hex digits. */
export function parseAddress(text: string): Address | undefined {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? (text.toLowerCase() as Address) : undefined
}

/** The 20 bytes of an address. */
export const addressBytes = (address: Address): Uint8Array => fromHex(address.slice(2)) as Uint8Array

/** The address of an ed25519 public key: the first 20 bytes of its sha256, as CometBFT has it. */
export const addressOfKey = (publicKey: Uint8Array): Address => addressOf(sha256(publicKey).subarray(0, ADDRESS_BYTES))

/** 20 zero bytes: no account's key is known to lead here. */
export const ZERO_ADDRESS: Address = addressOf(new Uint8Array(ADDRESS_BYTES))

/** An account address. JSON and SQL: `0x` and 40 hex digits; wire and key: 20 bytes. */
export const address: KeyType<Address, Uint8Array> = {
  ...plainText,
  name: 'address',
  typedDataType: 'address',
  doc: 'address, 0x and 40 hex digits',
  exactForm: 'an address (0x and 40 hex digits)',
  inputSchema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  fromJson: (json, refuse) => {
    const parsed = parseAddress(stringOf(json, address.exactForm, refuse))
    return parsed === undefined ? refuse(address.exactForm) : addressBytes(parsed)
  },
  wireToJson: (wire) => (wire.length === ADDRESS_BYTES ? addressOf(wire) : toBase64(wire)),
  check: (wire) =>
    wire.length === ADDRESS_BYTES ? undefined : { expected: `${ADDRESS_BYTES} bytes`, got: wire.length },
  parse: parseAddress,
  inPath: { form: '0x and 40 hex digits', parse: parseAddress, print: (value) => value },
  wireType: 'bytes',
  toWire: addressBytes,
  fromWire: addressOf,
  fromSql: (sql) => sql as Address,
  isSqlOrdered: true,
  toKey: addressBytes,
  fromKey: fixedLength(ADDRESS_BYTES, addressOf),
}

const noBytes = new Uint8Array(0)

/** An account address, or '' where there is none. */
export const addressOrNone: ValueType<Address | '', Uint8Array> = {
  ...address,
  name: 'addressOrNone',
  fromJson: (json, refuse) => (json === '' ? noBytes : address.fromJson(json, refuse)),
  check: (wire) => (wire.length === 0 ? undefined : address.check(wire)),
  parse: (text) => (text === '' ? '' : parseAddress(text)),
  toWire: (value) => (value === '' ? noBytes : addressBytes(value)),
  fromWire: (wire) => (wire.length === 0 ? '' : addressOf(wire)),
}
