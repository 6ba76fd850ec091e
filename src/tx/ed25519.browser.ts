import nacl from 'tweetnacl'
import type { KeyPair } from './envelope.ts'

/** The ed25519 key pair of a 32-byte seed. */
export function keyPairOfSeed(seed: Uint8Array): KeyPair {
  return nacl.sign.keyPair.fromSeed(seed)
}

/** The 64-byte ed25519 signature of `message`. */
export function signDetached(message: Uint8Array, secretKey: Uint8Array): Uint8Array {
  return nacl.sign.detached(message, secretKey)
}
