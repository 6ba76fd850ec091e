import { sha256 } from '../base/hash.ts'

/** A node of the tree: a leaf when it has a key. Undefined stands for the empty subtree. Source: src/store/README.md, Rules. */
export interface Node {
  readonly hash: Uint8Array
  /** sha256 of a leaf's state key. */
  readonly keyHash?: Uint8Array
}

/** Hash of the empty subtree, and root of the empty tree. */
export const EMPTY_HASH: Uint8Array = new Uint8Array(32)

// sha256 reads them before the next call writes them: one buffer of each kind serves all.
const leaf = new Uint8Array(65)
const inner = new Uint8Array(65).fill(1, 0, 1)

/** sha256(0x00 ‖ sha256(state key) ‖ sha256(value)). */
export function leafHash(keyHash: Uint8Array, value: Uint8Array): Uint8Array {
  leaf.set(keyHash, 1)
  leaf.set(sha256(value), 33)
  return sha256(leaf)
}

/** sha256(0x01 ‖ left ‖ right). */
export function innerHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  inner.set(left, 1)
  inner.set(right, 33)
  return sha256(inner)
}

/** The node above two: none above none, a lone leaf itself, else an inner node. */
export function join(left: Node | undefined, right: Node | undefined): Node | undefined {
  if (left === undefined && (right === undefined || right.keyHash !== undefined)) return right
  if (right === undefined && left?.keyHash !== undefined) return left
  return { hash: innerHash(left?.hash ?? EMPTY_HASH, right?.hash ?? EMPTY_HASH) }
}
