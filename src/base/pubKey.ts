import { fromBase64, fromHex, toBase64, toHex } from './bytes.ts'

declare const brand: unique symbol

/**
 * A validator's ed25519 public key: its 32 bytes in lower-case hex, so that the order of the texts is that of the bytes.
 * People and JSON have it in base64: see `parsePubKey` and `printPubKey`. Source: protocol.md §1.
 */
export type PubKey = string & { readonly [brand]: 'pubKey' }

/**
 * A proposal's id, the 32-byte hash of the transaction that proposed it, in lower-case hex. People and JSON have it in
 * base64. Source: protocol.md §1.
 */
export type ProposalId = string & { readonly [brand]: 'proposalId' }

/** Bytes of a public key, and of a proposal id. */
export const KEY_BYTES = 32

function of32(bytes: Uint8Array): string {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`expected ${KEY_BYTES} bytes, got ${bytes.length}`)
  return toHex(bytes)
}

function parse32(base64: string): string | undefined {
  const bytes = fromBase64(base64)
  return bytes?.length === KEY_BYTES ? toHex(bytes) : undefined
}

/** The key whose 32 bytes these are. Throws on another length. */
export const pubKeyOf = (bytes: Uint8Array): PubKey => of32(bytes) as PubKey

/** The key in base64 text; undefined unless it is the base64 of 32 bytes. */
export const parsePubKey = (base64: string): PubKey | undefined => parse32(base64) as PubKey | undefined

/** The base64 text of a key. */
export const printPubKey = (key: PubKey): string => toBase64(pubKeyBytes(key))

/** The 32 bytes of a key. */
export const pubKeyBytes = (key: PubKey): Uint8Array => fromHex(key) as Uint8Array

/** The id whose 32 bytes these are. Throws on another length. */
export const proposalIdOf = (bytes: Uint8Array): ProposalId => of32(bytes) as ProposalId

/** The id in base64 text; undefined unless it is the base64 of 32 bytes. */
export const parseProposalId = (base64: string): ProposalId | undefined => parse32(base64) as ProposalId | undefined

/** The base64 text of an id. */
export const printProposalId = (id: ProposalId): string => toBase64(proposalIdBytes(id))

/** The 32 bytes of an id. */
export const proposalIdBytes = (id: ProposalId): Uint8Array => fromHex(id) as Uint8Array
