import { hash } from 'node:crypto'
import { fromLatin1 } from '../sorted.ts'

/**
 * A sha256 as text, one character for each byte. Such a text costs half as much as a Buffer to create and to keep, and
 * its order is byte order. `toLatin1` and `fromLatin1` convert it.
 */
export type Hash = string

/** The sha256 of `bytes`. */
export const sha256Text = (bytes: Uint8Array): Hash => hash('sha256', bytes, 'binary')

/** Leaves in order as one text: the key hash and the hash of each. */
export type Leaves = string

/** A node of the tree. Null stands for the empty subtree. Source: docs/inside-the-store.md, Rules. */
export interface Node {
  readonly hash: Hash
  /** All leaves below the node when they are kept with it; one for a leaf. Empty when they are in a page of their own. */
  readonly leaves: Leaves
}

/** The bytes of a hash. */
export const HASH_BYTES = 32

/** The length of a leaf in a text of leaves. */
export const LEAF_LENGTH: number = 2 * HASH_BYTES

/** The hash of the empty subtree. */
export const EMPTY_HASH: Hash = '\0'.repeat(HASH_BYTES)

/** The root of the empty tree. */
export const EMPTY_ROOT: Uint8Array = fromLatin1(EMPTY_HASH)

// sha256 reads a buffer before the next call writes it, so one of each kind is enough.
const leafInput = Buffer.alloc(1 + 2 * HASH_BYTES)
const innerInput = Buffer.alloc(1 + 2 * HASH_BYTES).fill(1, 0, 1)

/** sha256(0x00 ‖ sha256(state key) ‖ sha256(value)). */
export function leafHash(keyHash: Hash, value: Uint8Array): Hash {
  leafInput.write(keyHash, 1, 'latin1')
  leafInput.write(sha256Text(value), 1 + HASH_BYTES, 'latin1')
  return sha256Text(leafInput)
}

/** sha256(0x01 ‖ left ‖ right). */
export function innerHash(left: Hash, right: Hash): Hash {
  innerInput.write(left, 1, 'latin1')
  innerInput.write(right, 1 + HASH_BYTES, 'latin1')
  return sha256Text(innerInput)
}

/** True for a leaf. */
export const isLeaf = ({ leaves }: Node): boolean => leaves.length === LEAF_LENGTH

/** The node above two others: none above none, the leaf itself above a lone leaf, else an inner node. */
export function join(left: Node | null, right: Node | null): Node | null {
  if (left === null) {
    if (right === null || isLeaf(right)) return right
  } else if (right === null && isLeaf(left)) return left
  return { hash: innerHash(left?.hash ?? EMPTY_HASH, right?.hash ?? EMPTY_HASH), leaves: '' }
}

/** The hash of the subtree of the leaves from `start` to `end`, exclusive, which share the first `depth` bits. */
function hashAbove(leaves: Leaves, depth: number, start = 0, end: number = leaves.length): Hash {
  if (start === end) return EMPTY_HASH
  if (end - start === LEAF_LENGTH) return leaves.slice(start + HASH_BYTES, end)
  const bit = 0x80 >> (depth & 7)
  let middle = start
  while (middle < end && (leaves.charCodeAt(middle + (depth >> 3)) & bit) === 0) middle += LEAF_LENGTH
  return innerHash(hashAbove(leaves, depth + 1, start, middle), hashAbove(leaves, depth + 1, middle, end))
}

/** The node that keeps these leaves, which are all below one path of `depth` bits; null for no leaves. */
export const nodeOf = (leaves: Leaves, depth: number): Node | null =>
  leaves === '' ? null : { hash: hashAbove(leaves, depth), leaves }
