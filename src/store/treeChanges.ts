import { type Hash, leafHash, sha256Text } from './node.ts'
import type { Change } from './overlay.ts'
import { byKeyHash, type LeafChange } from './tree.ts'

/** A key that the tree gains or loses: kept beside it, so that a proof of absence can name the keys next to a hash. */
export interface KeyChange {
  readonly keyHash: Hash
  /** Undefined: the key is gone. */
  readonly stateKey: Uint8Array | undefined
}

/** What rows' changes do to the tree: leaves sorted by key hash, each once, and the keys that come and go. */
export function treeChangesOf(changes: readonly Change[]): {
  readonly leaves: readonly LeafChange[]
  readonly keys: readonly KeyChange[]
} {
  const leaves: LeafChange[] = []
  const keys: KeyChange[] = []
  for (const { table, key, before, value } of changes) {
    if (!table.hashed) continue
    const keyHash = sha256Text(key)
    leaves.push({ keyHash, hash: value === undefined ? undefined : leafHash(keyHash, value) })
    if (value === undefined) keys.push({ keyHash, stateKey: undefined })
    else if (before === undefined) keys.push({ keyHash, stateKey: key })
  }
  leaves.sort(byKeyHash)
  return { leaves, keys }
}
