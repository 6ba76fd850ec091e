/** Who may sign a transaction: one file for each kind of account. Source: protocol.md §13. */
import type { SignerKind, Tx, TxBody } from '../envelope.ts'
import { checkFields, type Fields, typedFieldsOf } from '../fields.ts'
import type { KeySigner } from '../sign.ts'
import { ADDRESS_BYTES } from '../../values/address.ts'
import { typedDataOf } from '../typedData.ts'
import { hashTypedData } from '../typedDataHash.ts'
import { isSignedByOwnKey } from './ed25519.ts'
import { isSignedBySeveral } from './multisig.ts'
import { isSignedByAddress } from './secp256k1.ts'
import type { Signed } from './signed.ts'

/** True when the address of the signer is `from`, and every signature verifies. */
const isSignedAs: Readonly<Record<SignerKind, (tx: Tx, signed: Signed) => boolean>> = {
  ed25519: isSignedByOwnKey,
  secp256k1: (tx, signed) => isSignedByAddress(signed, tx.body.from, tx.signature),
  multisig: isSignedBySeveral,
}

/** The fields of an operation; undefined for one that the chain does not know. */
export type FieldsOf = (operation: string) => Fields | undefined

/** The digest that a secp256k1 key signs; undefined for a body with a field that is not of its form. */
export function digestOf(body: TxBody, fieldsOf: FieldsOf): Uint8Array | undefined {
  const fields = fieldsOf(body.operation)
  if (fields === undefined || checkFields(fields, body.message) !== undefined) return undefined
  return hashTypedData(typedDataOf(typedFieldsOf(fields), body))
}

/**
 * Why the chain would refuse the fields of an operation, where the key of `signer` has nothing to sign then: a signature of
 * such a body would be blamed for them. Undefined where all is well.
 */
export const whyUnsignable = ({ member }: KeySigner, fields: Fields, message: TxBody['message']): string | undefined =>
  member.length === ADDRESS_BYTES ? checkFields(fields, message) : undefined

/** Returns the check whether the sender of a transaction signed it: check 3 of protocol.md §2. */
export const verifierOf =
  (fieldsOf: FieldsOf): ((tx: Tx) => boolean) =>
  (tx) => {
    let digest: { readonly value: Uint8Array | undefined } | undefined
    const signed = { bodyBytes: tx.bodyBytes, digest: () => (digest ??= { value: digestOf(tx.body, fieldsOf) }).value }
    return isSignedAs[tx.kind](tx, signed)
  }
