/**
 * Checks the signatures of a draft as the chain does. The node's own code is native and WebAssembly, and a page runs
 * neither. Source: protocol.md §13.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { equalBytes } from '../../base/bytes.ts'
import { isSignedBy } from '../../base/ed25519.ts'
import { typedDataOfBody } from '../../client/signers.ts'
import { type Draft, multisigOf } from '../../tx/draft.ts'
import { signBytes } from '../../tx/envelope.ts'
import { SECP256K1_SIGNATURE_BYTES } from '../../tx/multisig.ts'
import { hashTypedData } from '../../tx/typedDataHash.ts'
import { addressBytes, addressOfKey } from '../../values/address.ts'
import { addressOfPoint } from '../../values/ethereum.ts'
import { KEY_BYTES } from '../../values/pubKey.ts'

/** v of an Ethereum signature where the parity of R's y is even. */
const V_EVEN = 27
const NUMBERS_BYTES = 64

/** The address whose key made a signature of a digest; undefined where none did. */
function recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  if (signature.length !== SECP256K1_SIGNATURE_BYTES) return undefined
  const parity = (signature[NUMBERS_BYTES] ?? 0) - V_EVEN
  const numbers = secp256k1.Signature.fromBytes(signature.subarray(0, NUMBERS_BYTES))
  if ((parity !== 0 && parity !== 1) || numbers.hasHighS()) return undefined
  return addressOfPoint(numbers.addRecoveryBit(parity).recoverPublicKey(digest).toBytes(false))
}

/** What stands for the key that has to sign, by member. */
function signerAt(draft: Draft, member: number): Uint8Array | undefined {
  const account = multisigOf(draft)
  const { publicKey, body } = draft
  if (account !== undefined) return account.members[member]
  if (publicKey === undefined) return body.from
  return equalBytes(addressBytes(addressOfKey(publicKey)), body.from) ? publicKey : undefined
}

function isRight(draft: Draft, member: number, signature: Uint8Array): boolean {
  const signer = signerAt(draft, member)
  if (signer === undefined) return false
  if (signer.length === KEY_BYTES) return isSignedBy(signBytes(draft.bodyBytes), signature, signer)
  try {
    const made = recover(hashTypedData(typedDataOfBody(draft.body)), signature)
    return made !== undefined && equalBytes(made, signer)
  } catch {
    // The library throws on bytes that are no signature.
    return false
  }
}

/** The members whose signatures are not theirs, or not of this transaction. */
export const wrongMembers = (draft: Draft): ReadonlySet<number> =>
  new Set(draft.parts.filter((part) => !isRight(draft, part.member, part.signature)).map(({ member }) => member))
