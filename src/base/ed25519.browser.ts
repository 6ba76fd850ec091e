import { etc, getPublicKey, hashes, Point, sign, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import type { KeyPair } from './ed25519.ts'
import { concat, toHex } from './bytes.ts'

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

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes.toReversed())}`)

/**
 * True for the signature of the key over `message`; false for bytes that are no signature or no key. As strict as
 * libsodium, which the chain has: noble multiplies the equation by eight, and takes an R of small order.
 */
export function isSignedBy(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    if (!verify(signature, message, publicKey, { zip215: false })) return false
    const [commitment, s] = [signature.subarray(0, 32), numberOf(signature.subarray(32))]
    const k = etc.mod(numberOf(sha512(concat(commitment, publicKey, message))), Point.CURVE().n)
    const [R, A] = [Point.fromBytes(commitment), Point.fromBytes(publicKey)]
    return !R.isSmallOrder() && R.add(A.multiply(k, false)).equals(Point.BASE.multiply(s, false))
  } catch {
    return false
  }
}
