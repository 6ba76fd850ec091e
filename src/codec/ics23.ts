import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/ics23.descriptor.js'
import { ics23 } from './gen/ics23.js'

/** The codec of an ICS-23 proof. */
export const commitmentProofCodec: Codec<object> = codecsOf(ics23, descriptor)('ics23.CommitmentProof')
