import { getPublicKey, hashes, sign } from '@noble/ed25519'
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
