import sodium from 'sodium-native'
import { asBuffer, equalBytes } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'
import { ADDRESS_BYTES } from '../values/address.ts'
import { SIGN_DOMAIN, SIGNATURE_BYTES, type Tx, TX_BYTES_MAX } from './envelope.ts'

// The domain, and behind it the body that is being verified.
const scratch = Buffer.alloc(SIGN_DOMAIN.length + TX_BYTES_MAX)
scratch.set(SIGN_DOMAIN)

/**
 * True when `from` is the address of the public key and the signature is that key's over the body. One verifier on
 * every node: libsodium refuses a non-canonical S and small-order or non-canonical keys; a second verifier would be a
 * consensus split. Source: protocol.md §2, check 3.
 */
export function isSignedBySender(tx: Tx): boolean {
  // libsodium accepts a signature with bytes behind it and throws on a short one.
  if (tx.signature.length !== SIGNATURE_BYTES || tx.publicKey.length !== sodium.crypto_sign_PUBLICKEYBYTES) return false
  if (!equalBytes(sha256(tx.publicKey).subarray(0, ADDRESS_BYTES), tx.body.from)) return false
  if (tx.bodyBytes.length > TX_BYTES_MAX) return false
  scratch.set(tx.bodyBytes, SIGN_DOMAIN.length)
  const signed = scratch.subarray(0, SIGN_DOMAIN.length + tx.bodyBytes.length)
  return sodium.crypto_sign_verify_detached(asBuffer(tx.signature), signed, asBuffer(tx.publicKey))
}
