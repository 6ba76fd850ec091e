import { type Sender, severalOf } from '../../bench/signers.ts'
import { signerOfPrivateKey } from '../../src/keys/ethereum.ts'
import { digestOfBody } from '../../src/modules/isSignedBySender.ts'
import { encodeBody, encodeTx, type TxBody } from '../../src/tx/envelope.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { account } from '../support/testChain.ts'

const wallet = (number: number): Signer => signerOfPrivateKey(new Uint8Array(32).fill(0x30 + number), digestOfBody)

// These sign whatever they are given: what has no signature gets one that does not verify.

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

// One of them is left out, another one each time.
const several = severalOf(
  2,
  [account(50), wallet(2), account(51)].map((signer) => ({
    member: signer.member,
    signBody: (body) => signatureOf(signer, body),
  })),
  (at, nonce) => at !== nonce % 3,
)

/** Accounts of the other kinds of signers: one of Ethereum, and two of three keys. */
export const OTHER_SIGNERS: readonly Sender[] = [ethereum, several]
