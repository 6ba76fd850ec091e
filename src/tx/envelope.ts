import { ADDRESS_BYTES } from '../values/address.ts'
import { concat, toHex, utf8 } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'
import { KEY_BYTES } from '../values/pubKey.ts'
import {
  decodeMultisig,
  decodeParts,
  ED25519_SIGNATURE_BYTES,
  type Multisig,
  type Part,
  SECP256K1_SIGNATURE_BYTES,
} from './multisig.ts'
import { OPERATION_MESSAGES, svcCodec } from '../codec/svc.ts'

/** The most bytes a transaction may have. Source: protocol.md §2, check 1. */
export const TX_BYTES_MAX = 65_536

/** What a sender says: one operation of one account, for one chain. */
export interface TxBody {
  readonly chainId: string
  /** 20 bytes. */
  readonly from: Uint8Array
  /** Transactions the sender made before this one. */
  readonly nonce: number
  /** The oneof member's name: `declareCandidacy`. */
  readonly operation: string
  /** The operation's message as proto/svc declares it. */
  readonly message: Readonly<Record<string, unknown>>
}

/** Who may sign: the lengths of the two members tell it. Source: protocol.md §13. */
export type SignerKind = 'ed25519' | 'secp256k1' | 'multisig'

/** A decoded transaction, with the bytes its signature covers. */
export interface Tx {
  readonly kind: SignerKind
  readonly body: TxBody
  readonly bodyBytes: Uint8Array
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
  /** Of a multisig: the account, and what its members signed. */
  readonly several?: { readonly account: Multisig; readonly parts: readonly Part[] }
}

type WireTx = Pick<Tx, 'publicKey' | 'signature'> & { readonly body: Uint8Array }
type WireBody = Pick<TxBody, 'chainId' | 'from' | 'nonce'> & { readonly [operation: string]: unknown }

const txCodec = svcCodec<WireTx>('svc.tx.Tx')
const bodyCodec = svcCodec<WireBody>('svc.tx.TxBody')

/** What stands before a body where it is signed, so that a signature is worth nothing for another purpose. */
export const SIGN_DOMAIN: Uint8Array = utf8('svc/tx/v1\n')

/** The bytes of a body: what `signBytes` and `encodeTx` take. Throws a TypeError on a value that no message can hold. */
export const encodeBody = ({ chainId, from, nonce, operation, message }: TxBody): Uint8Array =>
  bodyCodec.encode({ chainId, from, nonce, [operation]: message })

/** What is signed: the domain and the body. Source: protocol.md §2. */
export const signBytes = (bodyBytes: Uint8Array): Uint8Array => concat(SIGN_DOMAIN, bodyBytes)

/** The transaction's bytes. */
export const encodeTx = (bodyBytes: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): Uint8Array =>
  txCodec.encode({ body: bodyBytes, publicKey, signature })

/** The transaction's hash as CometBFT prints it: upper-case hex of sha256. */
export const txHash = (bytes: Uint8Array): string => toHex(sha256(bytes)).toUpperCase()

/** Why bytes are not a transaction. */
export interface NotATx {
  readonly why: string
}

/** The fewest bytes of an account of several keys: what is longer than a key. */
const MULTISIG_BYTES_MIN = 34

/** The kind of signer that the two members belong to; undefined for lengths that none has. */
function kindOf({ publicKey, signature }: Pick<Tx, 'publicKey' | 'signature'>): SignerKind | undefined {
  if (publicKey.length === KEY_BYTES && signature.length === ED25519_SIGNATURE_BYTES) return 'ed25519'
  if (publicKey.length === 0 && signature.length === SECP256K1_SIGNATURE_BYTES) return 'secp256k1'
  return publicKey.length >= MULTISIG_BYTES_MIN ? 'multisig' : undefined
}

/** Who signs by the two members, or why they are of nobody. */
function readSigner({ publicKey, signature }: WireTx): Pick<Tx, 'kind' | 'several'> | NotATx {
  const kind = kindOf({ publicKey, signature })
  if (kind === undefined)
    return {
      why:
        `public_key and signature: expected ${KEY_BYTES} and ${ED25519_SIGNATURE_BYTES} bytes (ed25519), 0 and ` +
        `${SECP256K1_SIGNATURE_BYTES} (secp256k1), or ${MULTISIG_BYTES_MIN} or more and a MultisigSignature (multisig), ` +
        `got ${publicKey.length} and ${signature.length}`,
    }
  if (kind !== 'multisig') return { kind }
  const account = decodeMultisig(publicKey)
  if ('why' in account) return account
  const parts = decodeParts(account, signature)
  return 'why' in parts ? parts : { kind, several: { account, parts } }
}

function readBody(bytes: Uint8Array): TxBody | NotATx {
  const body = bodyCodec.decodeCanonical(bytes)
  if (body === undefined) return { why: 'body: the bytes are not a canonical transaction body' }
  // protobufjs keeps every member of a oneof that stands in the bytes, and writes them all again.
  let [operation, operations] = ['', 0]
  for (const name of Object.keys(body)) {
    if (!OPERATION_MESSAGES.has(name)) continue
    operation = name
    operations++
  }
  if (operations !== 1) return { why: `message: expected one operation, got ${operations}` }
  const { chainId, from, nonce, [operation]: message } = body
  if (from.length !== ADDRESS_BYTES) return { why: `from: expected ${ADDRESS_BYTES} bytes, got ${from.length}` }
  return { chainId, from, nonce, operation, message: message as TxBody['message'] }
}

/** The body in canonical bytes; undefined for any other bytes. */
export function decodeBody(bytes: Uint8Array): TxBody | undefined {
  const body = readBody(bytes)
  return 'why' in body ? undefined : body
}

/** Reads bytes strictly, so that one intent has one byte string and one hash. Source: protocol.md §2, check 1. */
export function decodeTx(bytes: Uint8Array): Tx | NotATx {
  if (bytes.length > TX_BYTES_MAX) return { why: `size: expected at most ${TX_BYTES_MAX} bytes, got ${bytes.length}` }
  const wire = txCodec.decodeCanonical(bytes)
  if (wire === undefined) return { why: 'the bytes are not a canonical transaction' }
  const body = readBody(wire.body)
  if ('why' in body) return body
  const signer = readSigner(wire)
  if ('why' in signer) return signer
  const { body: bodyBytes, publicKey, signature } = wire
  return { ...signer, body, bodyBytes, publicKey, signature }
}
