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

const bytes32 = (hex: string): Uint8Array => fromHex(hex) as Uint8Array

const print32 = (hex: string): string => toBase64(bytes32(hex))

/** The key whose 32 bytes these are. Throws on another length. */
export const pubKeyOf = (bytes: Uint8Array): PubKey => of32(bytes) as PubKey

/** The key in base64 text; undefined unless it is the base64 of 32 bytes. */
export const parsePubKey = (base64: string): PubKey | undefined => parse32(base64) as PubKey | undefined

/** The base64 text of a key. */
export const printPubKey: (key: PubKey) => string = print32

/** The 32 bytes of a key. */
export const pubKeyBytes: (key: PubKey) => Uint8Array = bytes32

/** The id whose 32 bytes these are. Throws on another length. */
export const proposalIdOf = (bytes: Uint8Array): ProposalId => of32(bytes) as ProposalId

/** The id in base64 text; undefined unless it is the base64 of 32 bytes. */
export const parseProposalId = (base64: string): ProposalId | undefined => parse32(base64) as ProposalId | undefined

/** The base64 text of an id. */
export const printProposalId: (id: ProposalId) => string = print32

/** The 32 bytes of an id. */
export const proposalIdBytes: (id: ProposalId) => Uint8Array = bytes32

// Standard base64 holds '/', which separates the parts of a path: the URL-safe alphabet is read too.
const standard = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '=')

function of32Bytes<T extends string>(name: string, doc: string): KeyType<T, Uint8Array> {
  const form = 'base64 text'
  const exactForm = `base64 of ${KEY_BYTES} bytes`
  const of = (bytes: Uint8Array): T => of32(bytes) as T
  const parse = (text: string): T | undefined => parse32(standard(text)) as T | undefined
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
    toJson: print32,
    wireToJson: toBase64,
    check: (wire) => (wire.length === KEY_BYTES ? undefined : { expected: `${KEY_BYTES} bytes`, got: wire.length }),
    parse,
    print: print32,
    inPath: {
      form: `URL-safe ${exactForm}`,
      parse,
      print: (value) => print32(value).replaceAll('+', '-').replaceAll('/', '_'),
    },
    wireType: 'bytes',
    toWire: bytes32,
    fromWire: of,
    fromSql: (sql) => held(parse32(String(sql)) as T | undefined, exactForm, sql),
    isSqlOrdered: false,
    toKey: bytes32,
    fromKey: fixedLength(KEY_BYTES, of),
  }
}

/** A validator's ed25519 public key. JSON and SQL: base64; wire and key: 32 bytes. */
export const pubKey: KeyType<PubKey, Uint8Array> = of32Bytes(
  'pubKey',
  `public key of the validator node, base64 of ${KEY_BYTES} bytes`,
)

/** The id of a proposal. JSON and SQL: base64; wire and key: 32 bytes. */
export const proposalId: KeyType<ProposalId, Uint8Array> = of32Bytes(
  'proposalId',
  `ProposalID, base64 of ${KEY_BYTES} bytes`,
)
