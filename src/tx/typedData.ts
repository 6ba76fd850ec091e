/** What a secp256k1 account signs: an operation as EIP-712 typed data, which wallets show field by field. Source: protocol.md §13. */
import { toBase64, toHex } from '../base/bytes.ts'
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

/** The domain of all typed data. It has no chainId, which wallets compare with their network: the message names the chain. */
export const DOMAIN = { name: 'svcd', version: '1' } as const
/** The type of the domain. */
export const DOMAIN_TYPE: readonly TypedMember[] = [
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
