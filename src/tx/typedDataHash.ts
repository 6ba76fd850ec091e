/** The digest of typed data, as EIP-712 defines it. Source: protocol.md §13. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concat, fromHex, utf8 } from '../base/bytes.ts'
import { DOMAIN, DOMAIN_TYPE, type TypedData } from './typedData.ts'

type Message = Readonly<Record<string, unknown>>

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
