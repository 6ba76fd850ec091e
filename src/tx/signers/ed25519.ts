import { equalBytes } from '../../base/bytes.ts'
import { isSignedBy } from '../../base/ed25519.ts'
import { sha256 } from '../../base/sha256.ts'
import { ADDRESS_BYTES } from '../../values/address.ts'
import { SIGN_DOMAIN, type Tx, TX_BYTES_MAX } from '../envelope.ts'
import type { Signed } from './signed.ts'

// The domain, and behind it the body that is being verified.
const scratch = Buffer.alloc(SIGN_DOMAIN.length + TX_BYTES_MAX)
scratch.set(SIGN_DOMAIN)

/**
 * True when the signature is that of the key over the domain and the body. One verifier on every node: libsodium refuses
 * a non-canonical S and small-order or non-canonical keys; a second verifier would be a consensus split.
 */
export function isSignedByKey(
  { bodyBytes }: Pick<Signed, 'bodyBytes'>,
  publicKey: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (bodyBytes.length > TX_BYTES_MAX) return false
  scratch.set(bodyBytes, SIGN_DOMAIN.length)
  return isSignedBy(scratch.subarray(0, SIGN_DOMAIN.length + bodyBytes.length), signature, publicKey)
}

/** True when `from` is the address of the public key, the beginning of its sha256, and that key signed. */
export const isSignedByOwnKey = (tx: Tx): boolean =>
  equalBytes(sha256(tx.publicKey).subarray(0, ADDRESS_BYTES), tx.body.from) &&
  isSignedByKey(tx, tx.publicKey, tx.signature)
