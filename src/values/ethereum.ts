/** Addresses of Ethereum. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { ADDRESS_BYTES } from './address.ts'

/** The first byte of a public key in its long form, which no address is made of. */
const KEY_PREFIX_BYTES = 1

/** The 20 bytes of the address of a secp256k1 public key in its long form. */
export const addressOfPoint = (key: Uint8Array): Uint8Array =>
  keccak_256(key.subarray(KEY_PREFIX_BYTES)).subarray(-ADDRESS_BYTES)
