import { equalBytes } from '../../base/bytes.ts'
import { addressBytes } from '../../values/address.ts'
import { KEY_BYTES } from '../../values/pubKey.ts'
import { decodeMultisig, decodeParts, multisigAddress } from '../multisig.ts'
import { isSignedByKey } from './ed25519.ts'
import { isSignedByAddress } from './secp256k1.ts'
import type { SignerRules } from './signer.ts'

/**
 * Several keys: as many members as the threshold sign the same body, each as its kind does. Bound: MEMBERS_MAX
 * signatures.
 */
export const multisig: SignerRules = {
  isSigned: (tx, signed) => {
    if (!equalBytes(addressBytes(multisigAddress(tx.publicKey)), tx.body.from)) return false
    const account = decodeMultisig(tx.publicKey)
    if ('why' in account) return false
    const parts = decodeParts(account, tx.signature)
    if ('why' in parts) return false
    return parts.every(({ member, signature }) => {
      const key = account.members[member] as Uint8Array
      return (key.length === KEY_BYTES ? isSignedByKey : isSignedByAddress)(signed, key, signature)
    })
  },
}
