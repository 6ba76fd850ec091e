import { ADDRESS_BYTES, type Address, addressBytes, addressOf, parseAddress } from '../base/address.ts'
import { toBase64 } from '../base/bytes.ts'
import { fixedLength, type KeyType, plainText, stringOf, type ValueType } from './valueType.ts'

/** An account address. JSON and SQL: `0x` and 40 hex digits; wire and key: 20 bytes. */
export const address: KeyType<Address, Uint8Array> = {
  ...plainText,
  name: 'address',
  doc: 'address, 0x and 40 hex digits',
  exactForm: 'an address (0x and 40 hex digits)',
  inputSchema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  fromJson: (json, refuse) => {
    const parsed = parseAddress(stringOf(json, address.exactForm, refuse))
    return parsed === undefined ? refuse(address.exactForm) : addressBytes(parsed)
  },
  wireToJson: (wire) => (wire.length === ADDRESS_BYTES ? addressOf(wire) : toBase64(wire)),
  check: (wire) => (wire.length === ADDRESS_BYTES ? undefined : `expected ${ADDRESS_BYTES} bytes, got ${wire.length}`),
  parse: parseAddress,
  inPath: { form: '0x and 40 hex digits', parse: parseAddress, print: (value) => value },
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
