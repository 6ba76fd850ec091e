import { getPublicKey, hashes, sign, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import type { KeyPair } from './ed25519.ts'
import { concat } from './bytes.ts'

hashes.sha512 = sha512

/** The ed25519 key pair of a 32-byte seed. */
export function keyPairOfSeed(seed: Uint8Array): KeyPair {
  const publicKey = getPublicKey(seed)
  return { publicKey, secretKey: concat(seed, publicKey) }
}

/** The 64-byte ed25519 signature of `message`. */
export function signDetached(message: Uint8Array, secretKey: Uint8Array): Uint8Array {
  return sign(message, secretKey.subarray(0, 32))
}

/** True for the signature of the key over `message`; false for bytes that are no signature or no key. */
export function isSignedBy(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    // As strict as libsodium, which the chain has.
    return verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}
