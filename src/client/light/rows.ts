import { addressBytes, addressOf, ADDRESS_BYTES, parseAddress } from '../../base/address.ts'
import { concat, fromBase64, fromUtf8, toBase64, u64be, utf8 } from '../../base/bytes.ts'
import { KEY_BYTES } from '../../base/pubKey.ts'
import { stateCodec } from '../../codec/state.ts'

/** One part of a state key: from the text of `/store/<table>/<key>`, and out of the key's bytes. */
interface Part {
  readonly parse: (text: string) => Uint8Array | undefined
  readonly read: (bytes: Uint8Array) => { readonly value: unknown; readonly length: number }
}

const address: Part = {
  parse: (text) => {
    const parsed = parseAddress(text)
    return parsed === undefined ? undefined : addressBytes(parsed)
  },
  read: (bytes) => ({ value: addressOf(bytes.subarray(0, ADDRESS_BYTES)), length: ADDRESS_BYTES }),
}

const bytes32: Part = {
  parse: (text) => {
    const parsed = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '='))
    return parsed?.length === KEY_BYTES ? parsed : undefined
  },
  read: (bytes) => ({ value: toBase64(bytes.subarray(0, KEY_BYTES)), length: KEY_BYTES }),
}

const number: Part = {
  parse: (text) =>
    /^(?:0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text)) ? u64be(Number(text)) : undefined,
  read: (bytes) => ({ value: Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0)), length: 8 }),
}

const name: Part = {
  parse: (text) => (text === '' || text.includes('\0') ? undefined : concat(utf8(text), new Uint8Array(1))),
  read: (bytes) => ({ value: fromUtf8(bytes.subarray(0, bytes.indexOf(0))), length: bytes.indexOf(0) + 1 }),
}

interface Table {
  readonly tag: number
  readonly message: string
  readonly key: Readonly<Record<string, Part>>
}

/** Every table under the app hash: tag, message and key of its rows. Source: proto/svc/state.proto, which is frozen. */
const TABLES: Readonly<Record<string, Table>> = {
  accounts: { tag: 0x01, message: 'Account', key: { address } },
  candidacies: { tag: 0x02, message: 'Candidacy', key: { id: number } },
  validator_keys: { tag: 0x03, message: 'ValidatorKey', key: { pub_key: bytes32, first_height: number } },
  validator_set: { tag: 0x04, message: 'SetMember', key: { pub_key: bytes32 } },
  absences: { tag: 0x05, message: 'Absence', key: { candidacy_id: number } },
  unbondings: { tag: 0x06, message: 'Unbonding', key: { number } },
  account_updates: { tag: 0x07, message: 'AccountUpdate', key: { id: number } },
  misbehaviours: { tag: 0x08, message: 'Misbehaviour', key: { candidacy_id: number } },
  proposals: { tag: 0x10, message: 'Proposal', key: { id: bytes32 } },
  votes: { tag: 0x11, message: 'Vote', key: { proposal_id: bytes32, candidacy_id: number } },
  params: { tag: 0x18, message: 'Param', key: { name, height: number } },
  totals: { tag: 0x20, message: 'Totals', key: {} },
  counters: { tag: 0x21, message: 'Counters', key: {} },
  chain: { tag: 0x22, message: 'Chain', key: {} },
}

/** Members that hold a number as decimal text, empty for zero. */
const DECIMALS = new Set([
  'balance',
  'shares',
  'max_shares',
  'comp_rate',
  'amount',
  'escrow',
  'genesis_supply',
  'minted',
  'burned',
  'default_max_amount',
  'default_comp_rate',
  'slash_ratio',
])

/** The state key of a row; undefined when there can be no such row. */
export function stateKey(table: string, key: string): Uint8Array | undefined {
  const declared = TABLES[table]
  const kinds = Object.values(declared?.key ?? {})
  const parts = key === '' ? [] : key.split('/')
  if (declared === undefined || parts.length !== kinds.length) return undefined
  const read = kinds.map((kind, at) => kind.parse(parts[at] as string))
  return read.includes(undefined) ? undefined : concat(Uint8Array.of(declared.tag), ...(read as Uint8Array[]))
}

function print(member: string, value: unknown): unknown {
  if (value === '' && DECIMALS.has(member)) return '0'
  if (!(value instanceof Uint8Array)) return value
  return value.length === ADDRESS_BYTES ? addressOf(value) : toBase64(value)
}

/** A row for people and programs, from its state key and the bytes that were proven. Amounts are text, base units. */
export function printRow(table: string, key: Uint8Array, value: Uint8Array): Readonly<Record<string, unknown>> {
  const { message, key: kinds } = TABLES[table] as Table
  const row: Record<string, unknown> = {}
  let at = 1
  for (const [member, kind] of Object.entries(kinds)) {
    const { value: part, length } = kind.read(key.subarray(at))
    row[member] = part
    at += length
  }
  for (const [name, held] of Object.entries(stateCodec<object>(`svc.state.${message}`).decode(value))) {
    const member = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    row[member] = print(member, held)
  }
  return row
}
