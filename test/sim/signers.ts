import { compareBytes } from '../../src/base/bytes.ts'
import { signerOfPrivateKey } from '../../src/keys/ethereum.ts'
import { digestOfBody } from '../../src/modules/isSignedBySender.ts'
import { encodeBody, encodeTx, type TxBody } from '../../src/tx/envelope.ts'
import { encodeMultisig, encodeParts, multisigAddress } from '../../src/tx/multisig.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { addressBytes } from '../../src/values/address.ts'
import { account } from '../support/testChain.ts'

/** An account that signs whatever it is given: what has no signature gets one that does not verify. */
type Sender = Pick<Signer, 'address' | 'signTx'>

const wallet = (number: number): Signer => signerOfPrivateKey(new Uint8Array(32).fill(0x30 + number), digestOfBody)

/** The signature of a body, or, of one that has no digest, bytes of its length. */
function signatureOf(signer: Signer, body: TxBody): Uint8Array {
  if (signer.member.length === 20 && digestOfBody(body) === undefined) return new Uint8Array(65).fill(27)
  return signer.signBody(body)
}

const first = wallet(1)
const ethereum: Sender = {
  address: first.address,
  signTx: (given) => {
    const body = { ...given, from: first.member }
    return encodeTx(encodeBody(body), new Uint8Array(0), signatureOf(first, body))
  },
}

const members = [account(50), wallet(2), account(51)].sort((a, b) => compareBytes(a.member, b.member))
const publicKey = encodeMultisig({ threshold: 2, members: members.map(({ member }) => member) })
const several: Sender = {
  address: multisigAddress(publicKey),
  signTx: (given) => {
    const body = { ...given, from: addressBytes(multisigAddress(publicKey)) }
    // One of them is left out, another one each time.
    const parts = members.flatMap((signer, member) =>
      member === given.nonce % 3 ? [] : [{ member, signature: signatureOf(signer, body) }],
    )
    return encodeTx(encodeBody(body), publicKey, encodeParts(parts))
  },
}

/** Accounts of the other kinds of signers: one of Ethereum, and two of three keys. */
export const OTHER_SIGNERS: readonly Sender[] = [ethereum, several]
