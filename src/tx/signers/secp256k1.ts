import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js'
import { compareBytes, equalBytes, fromHex } from '../../base/bytes.ts'
import { addressOfPoint } from '../../values/ethereum.ts'
import { SECP256K1_SIGNATURE_BYTES } from '../multisig.ts'
import type { Signed } from './signed.ts'

// libsecp256k1 in WebAssembly: the same instructions on every machine (decision record 0030).
/** The curve. */
export const curve = await instantiateSecp256k1()

const bytesOf = (hex: string): Uint8Array => fromHex(hex) as Uint8Array
const ZERO = new Uint8Array(32)
/** The order n of the group, and half of it rounded down: with a higher s the same signature would have a second form. */
const ORDER = bytesOf('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')
const HALF_ORDER = bytesOf('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')

/**
 * The address whose key made a signature of a digest: r, s and v, where v is 27 or 28 by the parity of R's y. undefined
 * for what is none: s above half of the order, a number that is 0 or too large, an R that is no point.
 */
export function recoverAddress(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  if (signature.length !== SECP256K1_SIGNATURE_BYTES) return undefined
  const [r, s, v] = [signature.subarray(0, 32), signature.subarray(32, 64), signature[64]]
  if (v !== 27 && v !== 28) return undefined
  if (compareBytes(r, ZERO) === 0 || compareBytes(r, ORDER) >= 0) return undefined
  if (compareBytes(s, ZERO) === 0 || compareBytes(s, HALF_ORDER) > 0) return undefined
  const key = curve.recoverPublicKeyUncompressed(signature.subarray(0, 64), v === 27 ? 0 : 1, digest)
  // The library answers with text where there is no key.
  return typeof key === 'string' ? undefined : addressOfPoint(key)
}

/** True when the key of an address signed: it is recovered from the signature, and its address is Ethereum's. */
export function isSignedByAddress({ digest }: Signed, address: Uint8Array, signature: Uint8Array): boolean {
  const signed = digest()
  const signer = signed === undefined ? undefined : recoverAddress(signed, signature)
  return signer !== undefined && equalBytes(signer, address)
}
