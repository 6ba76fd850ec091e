import { type KeyPair, keyPairOfSeed, signDetached } from '../base/ed25519.ts'
import { type Address, addressBytes, addressOfKey } from '../values/address.ts'
import { encodeBody, encodeTx, signBytes, type TxBody } from './envelope.ts'

type MaybeLater<T> = T | Promise<T>

/**
 * An account that can sign. A wallet asks its owner first: then it signs later.
 *
 * @example
 * const use = (signer: AnySigner): string => svc.accounts.add(signer)
 */
export interface AnySigner {
  /** 0x and 40 hex digits, in any letter case. */
  readonly address: string
  /** The bytes of a signed transaction of this account. */
  signTx(body: Omit<TxBody, 'from'>): MaybeLater<Uint8Array>
}

/**
 * An account of one key, which signs for itself and as a member of accounts of several keys.
 *
 * @example
 * const membersOf = (signers: KeySigner[]): Uint8Array[] => signers.map(({ member }) => member)
 */
export interface KeySigner extends AnySigner {
  readonly address: Address
  /** What stands for the key in an account of several: an ed25519 key of 32 bytes, or an address of secp256k1. */
  readonly member: Uint8Array
  /** The signature of a body, whoever it is from. */
  signBody(body: TxBody): MaybeLater<Uint8Array>
}

/** An account whose key is in this process: it signs at once. */
export interface Signer extends KeySigner {
  signTx(body: Omit<TxBody, 'from'>): Uint8Array
  signBody(body: TxBody): Uint8Array
}

/** A transaction that is not signed yet. Without `nonce` it gets the next one of its account. */
export interface PendingTx extends Pick<TxBody, 'operation' | 'message'> {
  readonly nonce: number | undefined
}

/** The signer of a key pair. The secret key stays inside: nothing prints or returns it. */
export function signerOf({ publicKey, secretKey }: KeyPair): Signer {
  const address = addressOfKey(publicKey)
  const from = addressBytes(address)
  const signBytesOf = (bodyBytes: Uint8Array): Uint8Array => signDetached(signBytes(bodyBytes), secretKey)
  return {
    address,
    member: publicKey,
    signBody: (body) => signBytesOf(encodeBody(body)),
    signTx: (body) => {
      const bodyBytes = encodeBody({ ...body, from })
      return encodeTx(bodyBytes, publicKey, signBytesOf(bodyBytes))
    },
  }
}

/** The signer of a 32-byte ed25519 seed. */
export const signerOfSeed = (seed: Uint8Array): Signer => signerOf(keyPairOfSeed(seed))
