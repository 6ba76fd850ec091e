import sodium from 'sodium-native'
import { asBuffer } from './bytes.ts'

/** An ed25519 key pair: 32 bytes of public key; 64 bytes of secret key, which are the seed and the public key. */
export interface KeyPair {
  readonly publicKey: Uint8Array
  readonly secretKey: Uint8Array
}

/** The ed25519 key pair of a 32-byte seed. */
export function keyPairOfSeed(seed: Uint8Array): KeyPair {
  const publicKey = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES)
  const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, asBuffer(seed))
  return { publicKey, secretKey }
}

/** The 64-byte ed25519 signature of `message`. */
export function signDetached(message: Uint8Array, secretKey: Uint8Array): Uint8Array {
  const signature = Buffer.alloc(sodium.crypto_sign_BYTES)
  sodium.crypto_sign_detached(signature, asBuffer(message), asBuffer(secretKey))
  return signature
}

/**
 * True for the signature of the key over `message`; false for bytes that are no signature or no key: libsodium accepts a
 * signature with bytes behind it and throws on a short one.
 */
export const isSignedBy = (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean =>
  signature.length === sodium.crypto_sign_BYTES &&
  publicKey.length === sodium.crypto_sign_PUBLICKEYBYTES &&
  sodium.crypto_sign_verify_detached(asBuffer(signature), asBuffer(message), asBuffer(publicKey))
