import { compareBytes } from '../base/bytes.ts'
import { sha256 } from '../base/hash.ts'
import { leafHash } from './node.ts'
import type { Change } from './overlay.ts'
import type { LeafChange } from './tree.ts'

/** A key that the tree gains or loses: kept beside it, so that a proof of absence can name the keys next to a hash. */
export interface KeyChange {
  readonly keyHash: Uint8Array
  /** Undefined: the key is gone. */
  readonly stateKey: Uint8Array | undefined
}

/** The first 48 bits of a hash: enough to order nearly all of them without a look at their bytes. */
const firstBytes = (hash: Uint8Array): number => Buffer.from(hash.buffer, hash.byteOffset, hash.length).readUIntBE(0, 6)

/** What rows' changes do to the tree: leaves sorted by key hash, each once, and the keys that come and go. */
export function treeChangesOf(changes: readonly Change[]): { readonly leaves: readonly LeafChange[]; readonly keys: readonly KeyChange[] } {
  const leaves: (LeafChange & { readonly order: number })[] = []
  const keys: KeyChange[] = []
  for (const { table, key, before, value } of changes) {
    if (!table.hashed) continue
    const keyHash = sha256(key)
    leaves.push({ keyHash, order: firstBytes(keyHash), hash: value === undefined ? undefined : leafHash(keyHash, value) })
    if (value === undefined) keys.push({ keyHash, stateKey: undefined })
    else if (before === undefined) keys.push({ keyHash, stateKey: key })
  }
  leaves.sort((a, b) => a.order - b.order || compareBytes(a.keyHash, b.keyHash))
  return { leaves, keys }
}
