/** Accounts of several keys: their bytes, and what must hold of them. Source: protocol.md §13. */
import { compareBytes, concat, fromBase64, toBase64, utf8 } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'
import { svcCodec } from '../codec/svc.ts'
import { ADDRESS_BYTES, type Address, addressBytes, addressOf, parseAddress } from '../values/address.ts'
import { KEY_BYTES } from '../values/pubKey.ts'

/**
 * An account of several keys: how many of the members have to sign.
 *
 * @example
 * const twoOf = (members: Uint8Array[]): Multisig => ({ threshold: 2, members })
 */
export interface Multisig {
  readonly threshold: number
  /** ed25519 public keys of 32 bytes and secp256k1 addresses of 20, in ascending order. */
  readonly members: readonly Uint8Array[]
}

/** The signature of one member. */
export interface Part {
  /** Its index in members. */
  readonly member: number
  readonly signature: Uint8Array
}

const MEMBERS_MIN = 2
/** The most members of an account of several keys. */
const MEMBERS_MAX = 16

/** Bytes of an ed25519 signature. */
export const ED25519_SIGNATURE_BYTES = 64
/** Bytes of a secp256k1 signature: r, s and v. */
export const SECP256K1_SIGNATURE_BYTES = 65

const multisigCodec = svcCodec<Multisig>('svc.tx.Multisig')
const signatureCodec = svcCodec<{ readonly parts: readonly Part[] }>('svc.tx.MultisigSignature')
const ADDRESS_DOMAIN = utf8('svc/multisig/v1\n')

/** Bytes that are no multisig, or no signature of one. */
interface Malformed {
  readonly why: string
}

/** Bytes of the signature that a member makes. */
export const signatureBytesOf = (member: Uint8Array): number =>
  member.length === KEY_BYTES ? ED25519_SIGNATURE_BYTES : SECP256K1_SIGNATURE_BYTES

/** What breaks a rule of accounts of several keys; undefined for one that may be. */
export function faultOf({ threshold, members }: Multisig): string | undefined {
  if (members.length < MEMBERS_MIN || members.length > MEMBERS_MAX)
    return `members: expected ${MEMBERS_MIN} to ${MEMBERS_MAX}, got ${members.length}`
  if (threshold < 1 || threshold > members.length)
    return `threshold: expected 1 to the ${members.length} members, got ${threshold}`
  for (const [at, member] of members.entries()) {
    if (member.length !== KEY_BYTES && member.length !== ADDRESS_BYTES)
      return `members[${at}]: expected a key of ${KEY_BYTES} bytes or an address of ${ADDRESS_BYTES}, got ${member.length}`
    const before = members[at - 1]
    if (before !== undefined && compareBytes(before, member) >= 0)
      return `members[${at}]: expected each member once, in ascending order of their bytes`
  }
  return undefined
}

/** The bytes of an account of several keys. Throws a TypeError for one that cannot be. */
export function encodeMultisig(multisig: Multisig): Uint8Array {
  const fault = faultOf(multisig)
  if (fault !== undefined) throw new TypeError(`multisig: ${fault}`)
  return multisigCodec.encode(multisig)
}

/** The account of several keys in canonical bytes. */
export function decodeMultisig(bytes: Uint8Array): Multisig | Malformed {
  const multisig = multisigCodec.decodeCanonical(bytes)
  if (multisig === undefined) return { why: 'public_key: the bytes are not a canonical Multisig' }
  const fault = faultOf(multisig)
  return fault === undefined ? multisig : { why: `public_key: ${fault}` }
}

/** The address of an account of several keys, from its bytes. */
export const multisigAddress = (publicKey: Uint8Array): Address =>
  addressOf(sha256(concat(ADDRESS_DOMAIN, publicKey)).subarray(0, ADDRESS_BYTES))

/** A member as text: an ed25519 key in base64, or the address of a secp256k1 key. */
export const printMember = (member: Uint8Array): string =>
  member.length === KEY_BYTES ? toBase64(member) : addressOf(member)

/** The member in a text; undefined for text that is none. */
export function parseMember(text: string): Uint8Array | undefined {
  const address = parseAddress(text)
  if (address !== undefined) return addressBytes(address)
  const key = fromBase64(text)
  return key?.length === KEY_BYTES ? key : undefined
}

/** The bytes of the signatures of members, by member ascending. */
export const encodeParts = (parts: readonly Part[]): Uint8Array => signatureCodec.encode({ parts })

/** The signatures of members of `multisig` in canonical bytes: exactly as many as its threshold. */
export function decodeParts({ threshold, members }: Multisig, bytes: Uint8Array): readonly Part[] | Malformed {
  const parts = signatureCodec.decodeCanonical(bytes)?.parts
  if (parts === undefined) return { why: 'signature: the bytes are not a canonical MultisigSignature' }
  if (parts.length !== threshold) return { why: `signature: expected ${threshold} parts, got ${parts.length}` }
  let last = -1
  for (const { member, signature } of parts) {
    const key = members[member]
    if (key === undefined || member <= last)
      return { why: `signature: expected members of 0 to ${members.length - 1}, ascending, got ${member}` }
    if (signature.length !== signatureBytesOf(key))
      return { why: `signature of member ${member}: expected ${signatureBytesOf(key)} bytes, got ${signature.length}` }
    last = member
  }
  return parts
}
