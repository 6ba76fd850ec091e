import { hash } from 'node:crypto'
import { bytesOf } from './sorted.ts'

/**
 * A sha256 as text of one character a byte: half as dear as a Buffer to make and to keep, and its order is byte order.
 * `bytesOf` and `idOf` lead to bytes and back.
 */
export type Hash = string

/** sha256 of `bytes`. */
export const sha256Text = (bytes: Uint8Array): Hash => hash('sha256', bytes, 'binary')

/** A node of the tree: a leaf when it has a key. Null stands for the empty subtree. Source: src/store/README.md, Rules. */
export interface Node {
  readonly hash: Hash
  /** sha256 of a leaf's state key. */
  readonly keyHash: Hash | undefined
}

/** Bytes of a hash. */
export const HASH_BYTES = 32

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

/** The node above two: none above none, a lone leaf itself, else an inner node. */
export function join(left: Node | null, right: Node | null): Node | null {
  if (left === null && (right === null || right.keyHash !== undefined)) return right
  if (right === null && left?.keyHash !== undefined) return left
  return { hash: innerHash(left?.hash ?? EMPTY_HASH, right?.hash ?? EMPTY_HASH), keyHash: undefined }
}
