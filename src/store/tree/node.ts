import { hash } from 'node:crypto'
import { bytesOf } from '../sorted.ts'

/**
 * A sha256 as text of one character a byte: half as dear as a Buffer to make and to keep, and its order is byte order.
 * `bytesOf` and `idOf` lead to bytes and back.
 */
export type Hash = string

/** sha256 of `bytes`. */
export const sha256Text = (bytes: Uint8Array): Hash => hash('sha256', bytes, 'binary')

/** Leaves in order, as text: of each its key hash and its hash. */
export type Leaves = string

/** A node of the tree. Null stands for the empty subtree. Source: src/store/README.md, Rules. */
export interface Node {
  readonly hash: Hash
  /**
   * All leaves below it when they are kept with it: one for a leaf. Empty for an inner node whose leaves are elsewhere.
   */
  readonly leaves: Leaves
}

/** Bytes of a hash. */
export const HASH_BYTES = 32

/** Length of a leaf in a text of leaves. */
export const LEAF_LENGTH: number = 2 * HASH_BYTES

/** Hash of the empty subtree. */
export const EMPTY_HASH: Hash = '\0'.repeat(HASH_BYTES)

/** Root of the empty tree. */
export const EMPTY_ROOT: Uint8Array = bytesOf(EMPTY_HASH)

// sha256 reads them before the next call writes them: one buffer of each kind serves all.
const leaf = Buffer.alloc(1 + 2 * HASH_BYTES)
const inner = Buffer.alloc(1 + 2 * HASH_BYTES).fill(1, 0, 1)

/** sha256(0x00 ‖ sha256(state key) ‖ sha256(value)). */
export function leafHash(keyHash: Hash, value: Uint8Array): Hash {
  leaf.write(keyHash, 1, 'latin1')
  leaf.write(sha256Text(value), 1 + HASH_BYTES, 'latin1')
  return sha256Text(leaf)
}

/** sha256(0x01 ‖ left ‖ right). */
export function innerHash(left: Hash, right: Hash): Hash {
  inner.write(left, 1, 'latin1')
  inner.write(right, 1 + HASH_BYTES, 'latin1')
  return sha256Text(inner)
}

/** True for a leaf. */
export const isLeaf = ({ leaves }: Node): boolean => leaves.length === LEAF_LENGTH

/** The node above two: none above none, a lone leaf itself, else an inner node. */
export function join(left: Node | null, right: Node | null): Node | null {
  if (left === null) {
    if (right === null || isLeaf(right)) return right
  } else if (right === null && isLeaf(left)) return left
  return { hash: innerHash(left?.hash ?? EMPTY_HASH, right?.hash ?? EMPTY_HASH), leaves: '' }
}

/** The hash above the leaves `from` to `to`, without the last, all below one path of `depth` bits. */
function hashAbove(leaves: Leaves, from: number, to: number, depth: number): Hash {
  if (from === to) return EMPTY_HASH
  if (to - from === LEAF_LENGTH) return leaves.slice(from + HASH_BYTES, to)
  const bit = 0x80 >> (depth & 7)
  let middle = from
  while (middle < to && (leaves.charCodeAt(middle + (depth >> 3)) & bit) === 0) middle += LEAF_LENGTH
  return innerHash(hashAbove(leaves, from, middle, depth + 1), hashAbove(leaves, middle, to, depth + 1))
}

/** The node that keeps these leaves, all below one path of `depth` bits; null for none. */
export const nodeOf = (leaves: Leaves, depth: number): Node | null =>
  leaves === '' ? null : { hash: hashAbove(leaves, 0, leaves.length, depth), leaves }
