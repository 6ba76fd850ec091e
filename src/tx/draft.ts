/** A transaction on its way from signer to signer: its body, who may sign it, and who has. Source: protocol.md §13. */
import { equalBytes, fromBase64, toBase64 } from '../base/bytes.ts'
import { isObject, parseJson } from '../base/json.ts'
import { type Address, addressBytes, addressOf, addressOfKey } from '../values/address.ts'
import { KEY_BYTES } from '../values/pubKey.ts'
import { decodeBody, encodeTx, type TxBody } from './envelope.ts'
import { decodeMultisig, encodeParts, type Multisig, multisigAddress, type Part, signatureBytesOf } from './multisig.ts'
import type { KeySigner } from './sign.ts'

/** A transaction that is not yet signed by everybody who has to. */
export interface Draft {
  readonly bodyBytes: Uint8Array
  readonly body: TxBody
  /** The account of several keys that it is from, in bytes; none for an account of one key. */
  readonly multisig: Uint8Array | undefined
  /** By member, ascending. Of an account of one key: the key at 0, which the first signer gives. */
  readonly parts: readonly Part[]
  /** The public key of an account of one ed25519 key, once it has signed. */
  readonly publicKey?: Uint8Array | undefined
}

/** What is no draft, or no signer of one. */
export interface NotADraft {
  readonly why: string
}

const TYPE = 'svcd/draft/1'

/** The account of several keys of a draft; undefined for an account of one key. */
export function multisigOf({ multisig }: Pick<Draft, 'multisig'>): Multisig | undefined {
  const account = multisig === undefined ? undefined : decodeMultisig(multisig)
  return account === undefined || 'why' in account ? undefined : account
}

/** How many signatures are missing. */
export const missingSignatures = (draft: Draft): number =>
  Math.max(0, (multisigOf(draft)?.threshold ?? 1) - draft.parts.length)

/** The text of a draft: JSON that `parseDraft` reads. */
export const printDraft = ({ bodyBytes, multisig, publicKey, parts }: Draft): string =>
  JSON.stringify({
    type: TYPE,
    body: toBase64(bodyBytes),
    ...(multisig !== undefined && { multisig: toBase64(multisig) }),
    ...(publicKey !== undefined && { publicKey: toBase64(publicKey) }),
    signatures: parts.map(({ member, signature }) => ({ member, signature: toBase64(signature) })),
  })

const bytesIn = (value: unknown): Uint8Array | undefined => (typeof value === 'string' ? fromBase64(value) : undefined)

function partsIn(list: unknown, multisig: Multisig | undefined): readonly Part[] | undefined {
  if (!Array.isArray(list)) return undefined
  const parts: Part[] = []
  for (const one of list) {
    const { member, signature: text } = isObject(one) ? one : {}
    const signature = bytesIn(text)
    if (typeof member !== 'number' || signature === undefined || member <= (parts.at(-1)?.member ?? -1))
      return undefined
    const key = multisig?.members[member]
    if (multisig === undefined ? member !== 0 : key === undefined || signature.length !== signatureBytesOf(key))
      return undefined
    parts.push({ member, signature })
  }
  return parts
}

/** Reads a draft. What it says is decoded from the bytes that are signed, never from text beside them. */
export function parseDraft(text: string): Draft | NotADraft {
  const json = parseJson(text)
  if (json === undefined) return { why: 'expected JSON of a transaction to be signed' }
  if (!isObject(json) || json['type'] !== TYPE) return { why: `type: expected ${TYPE}` }
  const bodyBytes = bytesIn(json['body'])
  const body = bodyBytes && decodeBody(bodyBytes)
  if (bodyBytes === undefined || body === undefined) return { why: 'body: expected the base64 of a transaction body' }
  const multisig = bytesIn(json['multisig'])
  const account = multisig && decodeMultisig(multisig)
  if (account !== undefined && 'why' in account) return { why: `multisig: ${account.why}` }
  if (multisig !== undefined && !equalBytes(addressBytes(multisigAddress(multisig)), body.from))
    return { why: 'multisig: it is not the account that the body is from' }
  const parts = partsIn(json['signatures'], account)
  if (parts === undefined) return { why: 'signatures: expected members, ascending, with their signatures' }
  const publicKey = bytesIn(json['publicKey'])
  if (json['publicKey'] !== undefined && publicKey?.length !== KEY_BYTES)
    return { why: `publicKey: expected the base64 of ${KEY_BYTES} bytes` }
  return { bodyBytes, body, multisig, parts, publicKey }
}

/**
 * The draft with the signature of one more signer. Returns why not: the signer is no member, or has signed. Rejects with
 * the wallet's error when its owner refuses.
 */
export async function signDraft(draft: Draft, signer: KeySigner): Promise<Draft | NotADraft> {
  const { body, parts } = draft
  const account = multisigOf(draft)
  const isKey = signer.member.length === KEY_BYTES
  if (account === undefined) {
    if (signer.address !== addressOf(body.from)) return { why: `${signer.address} is not the sender` }
    const signature = await signer.signBody(body)
    return { ...draft, parts: [{ member: 0, signature }], publicKey: isKey ? signer.member : undefined }
  }
  const member = account.members.findIndex((one) => equalBytes(one, signer.member))
  if (member < 0) return { why: `${signer.address} is no member of ${addressOf(body.from)}` }
  if (parts.some((part) => part.member === member)) return { why: `${signer.address} has signed already` }
  const signature = await signer.signBody(body)
  return { ...draft, parts: [...parts, { member, signature }].sort((a, b) => a.member - b.member) }
}

/** The bytes of the transaction; undefined while signatures are missing. More than the threshold needs are left out. */
export function finishDraft(draft: Draft): Uint8Array | undefined {
  if (missingSignatures(draft) > 0) return undefined
  const { bodyBytes, multisig, parts, publicKey = new Uint8Array(0) } = draft
  if (multisig === undefined) return encodeTx(bodyBytes, publicKey, (parts[0] as Part).signature)
  return encodeTx(bodyBytes, multisig, encodeParts(parts.slice(0, multisigOf(draft)?.threshold)))
}

/** Who may sign a draft: the address of each member, or that of the account of one key, and whether it has. */
export function signersOf(draft: Draft): readonly { readonly address: Address; readonly hasSigned: boolean }[] {
  const addresses = multisigOf(draft)?.members.map(memberAddress) ?? [addressOf(draft.body.from)]
  return addresses.map((address, at) => ({ address, hasSigned: draft.parts.some(({ member }) => member === at) }))
}

/** The address of a member of an account of several keys. */
export const memberAddress = (member: Uint8Array): Address =>
  member.length === KEY_BYTES ? addressOfKey(member) : addressOf(member)
