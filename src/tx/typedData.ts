/** What a secp256k1 account signs: an operation as EIP-712 typed data, which wallets show field by field. Source: protocol.md §13. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concat, fromHex, toBase64, toHex, utf8 } from '../base/bytes.ts'
import type { TypedDataType } from '../values/valueType.ts'
import type { TxBody } from './envelope.ts'

/** A field of an operation as typed data has it; one with fields of its own is a struct. */
export interface TypedField {
  readonly name: string
  readonly type: TypedDataType | 'struct'
  readonly fields?: readonly TypedField[]
}

/** A member of a struct of typed data. */
export interface TypedMember {
  readonly name: string
  readonly type: string
}

/** Typed data as `eth_signTypedData_v4` takes it. */
export interface TypedData {
  readonly types: Readonly<Record<string, readonly TypedMember[]>>
  readonly primaryType: string
  readonly domain: { readonly name: 'svcd'; readonly version: '1' }
  readonly message: Readonly<Record<string, unknown>>
}

// No chainId: wallets compare it with the network that they are on. The chain stands in the message.
const DOMAIN = { name: 'svcd', version: '1' } as const
const DOMAIN_TYPE: readonly TypedMember[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
]

/** The members that stand in front of an operation's fields. */
const HEAD: readonly TypedMember[] = [
  { name: 'chain', type: 'string' },
  { name: 'from', type: 'address' },
  { name: 'nonce', type: 'uint64' },
]

const structName = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

const addressText = (bytes: Uint8Array): string => `0x${toHex(bytes)}`

/** A value of a message as typed data shows it: bytes that are no address as base64, numbers as decimal text. */
const shown = (value: unknown, type: string): string =>
  value instanceof Uint8Array ? (type === 'address' ? addressText(value) : toBase64(value)) : String(value)

type Message = Readonly<Record<string, unknown>>

/** Adds the struct `name` of the given fields of a message, and those within it, to `types`; returns its data. */
function addStruct(
  types: Record<string, readonly TypedMember[]>,
  name: string,
  fields: readonly TypedField[],
  message: Message,
  head: readonly TypedMember[] = [],
): Record<string, unknown> {
  const given = fields.filter((one) => message[one.name] !== undefined)
  types[name] = [
    ...head,
    ...given.map((one) => ({ name: one.name, type: one.type === 'struct' ? structName(one.name) : one.type })),
  ]
  return Object.fromEntries(
    given.map(({ name: member, type, fields: inner = [] }) => [
      member,
      type === 'struct'
        ? addStruct(types, structName(member), inner, message[member] as Message)
        : shown(message[member], type),
    ]),
  )
}

/** The typed data of a transaction body. `fields` are those of its operation. */
export function typedDataOf(fields: readonly TypedField[], body: TxBody): TypedData {
  const types: Record<string, readonly TypedMember[]> = { EIP712Domain: DOMAIN_TYPE }
  const primaryType = structName(body.operation)
  const data = addStruct(types, primaryType, fields, body.message, HEAD)
  const message = { chain: body.chainId, from: addressText(body.from), nonce: String(body.nonce), ...data }
  return { types, primaryType, domain: DOMAIN, message }
}

/** `Vote(string chain,address from,…)`, and behind it the structs in it, by name. */
function encodeType(types: TypedData['types'], name: string): string {
  const inner = new Set<string>()
  const visit = (struct: string): void => {
    for (const { type } of types[struct] ?? []) {
      if (types[type] === undefined || inner.has(type)) continue
      inner.add(type)
      visit(type)
    }
  }
  visit(name)
  return [name, ...[...inner].sort()]
    .map((one) => `${one}(${(types[one] ?? []).map((member) => `${member.type} ${member.name}`).join(',')})`)
    .join('')
}

/** The 32 bytes of an address, or of a whole number in decimal text. */
function word(value: string, type: string): Uint8Array {
  const hex = type === 'address' ? value.slice(2) : BigInt(value).toString(16)
  return fromHex(hex.padStart(64, '0')) as Uint8Array
}

function encodeMember(types: TypedData['types'], type: string, value: unknown): Uint8Array {
  if (types[type] !== undefined) return hashStruct(types, type, value as Message)
  return type === 'string' ? keccak_256(utf8(value as string)) : word(value as string, type)
}

const hashStruct = (types: TypedData['types'], name: string, data: Message): Uint8Array =>
  keccak_256(
    concat(
      keccak_256(utf8(encodeType(types, name))),
      ...(types[name] ?? []).map((member) => encodeMember(types, member.type, data[member.name])),
    ),
  )

const DOMAIN_SEPARATOR = hashStruct({ EIP712Domain: DOMAIN_TYPE }, 'EIP712Domain', DOMAIN)
const PREFIX = Uint8Array.of(0x19, 0x01)

/** The digest that is signed. Source: EIP-712. */
export const hashTypedData = ({ types, primaryType, message }: TypedData): Uint8Array =>
  keccak_256(concat(PREFIX, DOMAIN_SEPARATOR, hashStruct(types, primaryType, message)))
