import { equalBytes } from '../../base/bytes.ts'
import { addressBytes } from '../../values/address.ts'
import { KEY_BYTES } from '../../values/pubKey.ts'
import { multisigAddress } from '../multisig.ts'
import { isSignedByKey } from './ed25519.ts'
import { isSignedByAddress } from './secp256k1.ts'
import type { Signed, SignerRules } from './signer.ts'

/** True when a member signed: an ed25519 key of 32 bytes, or an address of secp256k1. */
export const isSignedByMember = (signed: Signed, member: Uint8Array, signature: Uint8Array): boolean =>
  (member.length === KEY_BYTES ? isSignedByKey : isSignedByAddress)(signed, member, signature)

/**
 * Several keys: as many members as the threshold sign the same body, each as its kind does. Bound: MEMBERS_MAX
 * signatures.
 */
export const multisig: SignerRules = {
  isSigned: ({ body, publicKey, several }, signed) => {
    if (several === undefined || !equalBytes(addressBytes(multisigAddress(publicKey)), body.from)) return false
    const { account, parts } = several
    return parts.every(({ member, signature }) =>
      isSignedByMember(signed, account.members[member] as Uint8Array, signature),
    )
  },
}
