import { type KeyPair, keyPairOfSeed, signDetached } from '../base/ed25519.ts'
import { type Address, addressBytes, addressOfKey } from '../values/address.ts'
import { encodeBody, encodeTx, signBytes, type TxBody } from './envelope.ts'

/** An account that can sign. */
export interface Signer {
  readonly address: Address
  /** The bytes of a signed transaction of this account. */
  signTx(body: Omit<TxBody, 'from'>): Uint8Array
}

/** A transaction that is not signed yet. Without `nonce` it gets the next one of its account. */
export interface PendingTx extends Pick<TxBody, 'operation' | 'message'> {
  readonly nonce: number | undefined
}

/** The signer of a key pair. The secret key stays inside: nothing prints or returns it. */
export function signerOf({ publicKey, secretKey }: KeyPair): Signer {
  const address = addressOfKey(publicKey)
  const from = addressBytes(address)
  return {
    address,
    signTx: (body) => {
      const bodyBytes = encodeBody({ ...body, from })
      return encodeTx(bodyBytes, publicKey, signDetached(signBytes(bodyBytes), secretKey))
    },
  }
}

/** The signer of a 32-byte ed25519 seed. */
export const signerOfSeed = (seed: Uint8Array): Signer => signerOf(keyPairOfSeed(seed))
