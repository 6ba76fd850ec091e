import { fromBase64, toBase64 } from './bytes.ts'

declare const brand: unique symbol

/** A validator's ed25519 public key: base64 of its 32 bytes. Source: protocol.md §1. */
export type PubKey = string & { readonly [brand]: 'pubKey' }

/** A proposal's id: base64 of the 32-byte hash of the transaction that proposed it. Source: protocol.md §1. */
export type ProposalId = string & { readonly [brand]: 'proposalId' }

/** Bytes of a public key, and of a proposal id. */
export const KEY_BYTES = 32

function parse32(text: string): string | undefined {
  return fromBase64(text)?.length === KEY_BYTES ? text : undefined
}

function of32(bytes: Uint8Array): string {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`expected ${KEY_BYTES} bytes, got ${bytes.length}`)
  return toBase64(bytes)
}

/** The key whose 32 bytes these are. Throws on another length. */
export const pubKeyOf = (bytes: Uint8Array): PubKey => of32(bytes) as PubKey

/** The key in base64 text; undefined unless it is the base64 of 32 bytes. */
export const parsePubKey = (text: string): PubKey | undefined => parse32(text) as PubKey | undefined

/** The 32 bytes of a key. */
export const pubKeyBytes = (key: PubKey): Uint8Array => fromBase64(key) as Uint8Array

/** The id whose 32 bytes these are. Throws on another length. */
export const proposalIdOf = (bytes: Uint8Array): ProposalId => of32(bytes) as ProposalId

/** The id in base64 text; undefined unless it is the base64 of 32 bytes. */
export const parseProposalId = (text: string): ProposalId | undefined => parse32(text) as ProposalId | undefined

/** The 32 bytes of an id. */
export const proposalIdBytes = (id: ProposalId): Uint8Array => fromBase64(id) as Uint8Array
