import { verifierOf } from '../tx/signers/index.ts'
import { txEntryOf } from './registry.ts'

/** True when the sender of a transaction signed it. The same function decides on every node. Source: protocol.md §2, check 3. */
export const isSignedBySender = verifierOf((operation) => txEntryOf.get(operation)?.input)
