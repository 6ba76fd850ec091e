import { equalBytes } from '../../base/bytes.ts'
import { addressBytes } from '../../values/address.ts'
import { KEY_BYTES } from '../../values/pubKey.ts'
import type { Tx } from '../envelope.ts'
import { multisigAddress } from '../multisig.ts'
import { isSignedByKey } from './ed25519.ts'
import { isSignedByAddress } from './secp256k1.ts'
import type { Signed } from './signed.ts'

/** True when a member signed: an ed25519 key of 32 bytes, or an address of secp256k1. */
export const isSignedByMember = (signed: Signed, member: Uint8Array, signature: Uint8Array): boolean =>
  (member.length === KEY_BYTES ? isSignedByKey : isSignedByAddress)(signed, member, signature)

/**
 * True when `from` is the address of the keys, and as many members as the threshold signed the body, each as its kind
 * does. Bound: MEMBERS_MAX signatures.
 */
export function isSignedBySeveral({ body, publicKey, several }: Tx, signed: Signed): boolean {
  if (several === undefined || !equalBytes(addressBytes(multisigAddress(publicKey)), body.from)) return false
  const { account, parts } = several
  return parts.every(({ member, signature }) =>
    isSignedByMember(signed, account.members[member] as Uint8Array, signature),
  )
}
