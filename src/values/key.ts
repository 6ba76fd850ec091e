import { fromBase64, toBase64 } from '../base/bytes.ts'
import {
  KEY_BYTES,
  parseProposalId,
  parsePubKey,
  printProposalId,
  printPubKey,
  type ProposalId,
  proposalIdBytes,
  proposalIdOf,
  type PubKey,
  pubKeyBytes,
  pubKeyOf,
} from '../base/pubKey.ts'
import { fixedLength, held, type KeyType, plainText, stringOf } from './valueType.ts'

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
    check: (wire) => (wire.length === KEY_BYTES ? undefined : `expected ${KEY_BYTES} bytes, got ${wire.length}`),
    parse: (text) => parse(standard(text)),
    print,
    inPath: {
      form: `URL-safe ${exactForm}`,
      parse: (text) => parse(standard(text)),
      print: (value) => print(value).replaceAll('+', '-').replaceAll('/', '_'),
    },
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
