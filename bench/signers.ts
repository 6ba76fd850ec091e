import { compareBytes, utf8 } from '../src/base/bytes.ts'
import { sha256 } from '../src/base/sha256.ts'
import { signerOfPrivateKey } from '../src/keys/ethereum.ts'
import { digestOfBody } from '../src/modules/isSignedBySender.ts'
import { encodeBody, encodeTx } from '../src/tx/envelope.ts'
import { encodeMultisig, encodeParts, multisigAddress } from '../src/tx/multisig.ts'
import type { Signer } from '../src/tx/sign.ts'
import { addressBytes } from '../src/values/address.ts'
import { signerAt } from './accounts.ts'

/** An account that signs its own transactions. */
export type Sender = Pick<Signer, 'address' | 'signTx'>

/** A wallet of Ethereum, by name and number: the same in every process. */
export const walletAt = (name: string, number: number): Signer =>
  signerOfPrivateKey(sha256(utf8(`svcd bench ${name} wallet ${number}`)), digestOfBody)

type Member = Pick<Signer, 'member' | 'signBody'>

/**
 * An account of several keys, sorted by their bytes. `signs` tells whether the key at a position signs the transaction with
 * a nonce; by default the first `threshold` keys sign each one.
 */
export function severalOf(
  threshold: number,
  keys: readonly Member[],
  signs = (at: number, _nonce: number): boolean => at < threshold,
): Sender {
  const members = [...keys].sort((a, b) => compareBytes(a.member, b.member))
  const publicKey = encodeMultisig({ threshold, members: members.map(({ member }) => member) })
  const address = multisigAddress(publicKey)
  return {
    address,
    signTx: (given) => {
      const body = { ...given, from: addressBytes(address) }
      const parts = members.flatMap((signer, member) =>
        signs(member, given.nonce) ? [{ member, signature: signer.signBody(body) }] : [],
      )
      return encodeTx(encodeBody(body), publicKey, encodeParts(parts))
    },
  }
}

/** A sender of each kind of account. */
export const SENDERS_OF = {
  ed25519: (at: number): Sender => signerAt('sender', at),
  eip712: (at: number): Sender => walletAt('sender', at),
  // Wallets' addresses and ed25519 keys sort by their bytes: either kind may be the one that is left out.
  twoOfThree: (at: number): Sender =>
    severalOf(2, [signerAt('member', at), walletAt('member', at), walletAt('other member', at)]),
}

export type SenderKind = keyof typeof SENDERS_OF
