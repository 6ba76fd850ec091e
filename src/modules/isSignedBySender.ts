import type { TxBody } from '../tx/envelope.ts'
import { digestOf, type FieldsOf, verifierOf } from '../tx/signers/index.ts'
import { txEntryOf } from './registry.ts'

const fieldsOf: FieldsOf = (operation) => txEntryOf.get(operation)?.input

/** True when the sender of a transaction signed it. The same function decides on every node. Source: protocol.md §2, check 3. */
export const isSignedBySender = verifierOf(fieldsOf)

/** The digest that a secp256k1 key signs; undefined for a body that has none. */
export const digestOfBody = (body: TxBody): Uint8Array | undefined => digestOf(body, fieldsOf)
