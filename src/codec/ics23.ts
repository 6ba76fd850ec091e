import { descriptor } from './gen/ics23.descriptor.js'
import { ics23 } from './gen/ics23.js'
import { codecsOf } from './message.ts'

const codec = codecsOf(ics23, descriptor)<object>('ics23.CommitmentProof')

/** Encodes an `ics23.CommitmentProof`, a plain object. Throws a TypeError for a member of the wrong type. */
export function encodeCommitmentProof(proof: object): Uint8Array {
  return codec.encode(proof)
}

/** Decodes an `ics23.CommitmentProof`. Throws on bytes that are not one. */
export function decodeCommitmentProof(bytes: Uint8Array): object {
  return codec.decode(bytes)
}
