import { fromBase64, fromHex, toBase64, toHex } from '../base/bytes.ts'
import { fixedLength } from './column.ts'
import { held, type KeyType, plainText, stringOf } from './valueType.ts'

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

interface Of32Bytes<T> {
  readonly name: string
  readonly doc: string
  readonly of: (bytes: Uint8Array) => T
  readonly bytes: (value: T) => Uint8Array
  readonly parse: (base64: string) => T | undefined
  readonly print: (value: T) => string
}

// Standard base64 holds '/', which separates the parts of a path: the URL-safe alphabet is read too.
const standard = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '=')

function of32Bytes<T>({ name, doc, of, bytes, parse, print }: Of32Bytes<T>): KeyType<T, Uint8Array> {
  const form = 'base64 text'
  const exactForm = `base64 of ${KEY_BYTES} bytes`
  return {
    ...plainText,
    name,
    doc,
    exactForm,
    inputSchema: {
      type: 'string',
      contentEncoding: 'base64',
      pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    },
    fromJson: (json, refuse) => fromBase64(stringOf(json, form, refuse)) ?? refuse(form),
    toJson: print,
    wireToJson: toBase64,
    check: (wire) => (wire.length === KEY_BYTES ? undefined : { expected: `${KEY_BYTES} bytes`, got: wire.length }),
    parse: (text) => parse(standard(text)),
    print,
    inPath: {
      form: `URL-safe ${exactForm}`,
      parse: (text) => parse(standard(text)),
      print: (value) => print(value).replaceAll('+', '-').replaceAll('/', '_'),
    },
    wireType: 'bytes',
    toWire: bytes,
    fromWire: of,
    fromSql: (sql) => held(parse(String(sql)), exactForm, sql),
    isSqlOrdered: false,
    toKey: bytes,
    fromKey: fixedLength(KEY_BYTES, of),
  }
}

/** A validator's ed25519 public key. JSON and SQL: base64; wire and key: 32 bytes. */
export const pubKey: KeyType<PubKey, Uint8Array> = of32Bytes({
  name: 'pubKey',
  doc: `public key of the validator node, base64 of ${KEY_BYTES} bytes`,
  of: pubKeyOf,
  bytes: pubKeyBytes,
  parse: parsePubKey,
  print: printPubKey,
})

/** The id of a proposal. JSON and SQL: base64; wire and key: 32 bytes. */
export const proposalId: KeyType<ProposalId, Uint8Array> = of32Bytes({
  name: 'proposalId',
  doc: `ProposalID, base64 of ${KEY_BYTES} bytes`,
  of: proposalIdOf,
  bytes: proposalIdBytes,
  parse: parseProposalId,
  print: printProposalId,
})
