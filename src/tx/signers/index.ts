/** Who may sign a transaction: one file for each kind of account. Source: protocol.md §13. */
import type { SignerKind, Tx, TxBody } from '../envelope.ts'
import { checkFields, type Fields, typedFieldsOf } from '../fields.ts'
import { typedDataOf } from '../typedData.ts'
import { hashTypedData } from '../typedDataHash.ts'
import { ed25519 } from './ed25519.ts'
import { multisig } from './multisig.ts'
import { secp256k1 } from './secp256k1.ts'
import type { SignerRules } from './signer.ts'

const signers: Readonly<Record<SignerKind, SignerRules>> = { ed25519, secp256k1, multisig }

/** The fields of an operation; undefined for one that the chain does not know. */
export type FieldsOf = (operation: string) => Fields | undefined

/** The digest that a secp256k1 key signs; undefined for a body with a field that is not of its form. */
export function digestOf(body: TxBody, fieldsOf: FieldsOf): Uint8Array | undefined {
  const fields = fieldsOf(body.operation)
  if (fields === undefined || checkFields(fields, body.message) !== undefined) return undefined
  return hashTypedData(typedDataOf(typedFieldsOf(fields), body))
}

/** Returns the check whether the sender of a transaction signed it: check 3 of protocol.md §2. */
export const verifierOf =
  (fieldsOf: FieldsOf): ((tx: Tx) => boolean) =>
  (tx) => {
    let digest: { readonly value: Uint8Array | undefined } | undefined
    const signed = { bodyBytes: tx.bodyBytes, digest: () => (digest ??= { value: digestOf(tx.body, fieldsOf) }).value }
    return signers[tx.kind].isSigned(tx, signed)
  }
