/** Keys of Ethereum: secp256k1. Apart from keystore.ts, which is in the browser's page, and has no need of the curve. */
import { mnemonicToSeedSync } from '@scure/bip39'
import { concat } from '../base/bytes.ts'
import { encodeBody, encodeTx, type TxBody } from '../tx/envelope.ts'
import type { Signer } from '../tx/sign.ts'
import { curve } from '../tx/signers/secp256k1.ts'
import { addressBytes, addressOf } from '../values/address.ts'
import { addressOfPoint } from '../values/ethereum.ts'
import { type KeyOwner, SEED_BYTES } from './keystore.ts'
import { isMnemonic, MNEMONIC_FORM } from './mnemonic.ts'

/** True for what may be a private key: 32 bytes, neither 0 nor the order of the curve or above. */
export const isPrivateKey = (bytes: Uint8Array): boolean =>
  bytes.length === SEED_BYTES && curve.validatePrivateKey(bytes)

/**
 * The private key of account `index` of a BIP-39 mnemonic, at Ethereum's path m/44'/60'/0'/0/index. Rejects with an Error
 * that does not repeat the words when they are not a mnemonic.
 */
export async function privateKeyOfMnemonic(mnemonic: string, index: number): Promise<Uint8Array> {
  if (!isMnemonic(mnemonic)) throw new Error(`mnemonic: expected ${MNEMONIC_FORM}`)
  // It takes 75 ms to load, for four curves and hashes.
  const { deriveHdPath, deriveHdPrivateNodeFromSeed } = await import('@bitauth/libauth/build/lib/key/hd-key.js')
  const master = deriveHdPrivateNodeFromSeed(mnemonicToSeedSync(mnemonic), { assumeValidity: true })
  return deriveHdPath(master, `m/44'/60'/0'/0/${index}`).privateKey
}

/** Whose a private key is. Throws a RangeError for bytes that are none. */
export function ownerOfPrivateKey(privateKey: Uint8Array): KeyOwner {
  const key = isPrivateKey(privateKey) ? curve.derivePublicKeyUncompressed(privateKey) : ''
  if (typeof key === 'string') throw new RangeError('expected a private key of secp256k1')
  return { address: addressOf(addressOfPoint(key)), curve: 'secp256k1' }
}

/** The 65 bytes of a signature of a digest: r, s in the lower half, and v, which is 27 or 28. */
function signDigest(digest: Uint8Array, privateKey: Uint8Array): Uint8Array {
  const signed = curve.signMessageHashRecoverableCompact(privateKey, digest)
  if (typeof signed === 'string') throw new RangeError('expected a private key of secp256k1')
  return concat(signed.signature, Uint8Array.of(27 + signed.recoveryId))
}

/**
 * The signer of a private key. The key stays inside: nothing prints or returns it. `digestOf` computes the EIP-712 digest
 * of a body, and undefined for one that has none: that is refused with a RangeError.
 */
export function signerOfPrivateKey(privateKey: Uint8Array, digestOf: (body: TxBody) => Uint8Array | undefined): Signer {
  const { address } = ownerOfPrivateKey(privateKey)
  const member = addressBytes(address)
  const signBody = (body: TxBody): Uint8Array => {
    const digest = digestOf(body)
    if (digest === undefined) throw new RangeError(`${body.operation}: it has a field that the chain refuses`)
    return signDigest(digest, privateKey)
  }
  return {
    address,
    member,
    signBody,
    signTx: (given) => {
      const body = { ...given, from: member }
      return encodeTx(encodeBody(body), new Uint8Array(0), signBody(body))
    },
  }
}
