import { asBuffer } from '../base/bytes.ts'
import type BTreeClass from 'sorted-btree'
import sortedBtree from 'sorted-btree'

/**
 * Values by text key, in the order of the keys. `clone` is a copy in constant time: nodes are copied when one of the
 * two is written.
 */
export type Sorted<V> = BTreeClass.default<string, V>

// The package is CommonJS: its default export is a member of what Node imports.
const BTree = sortedBtree.default

/** The order of texts by code unit, which for texts of `idOf` is byte order. */
export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** An empty container ordered by code unit, which for texts of `idOf` is byte order. */
export function makeSorted<V>(): Sorted<V> {
  return new BTree<string, V>(undefined, byCodeUnit)
}

/** Bytes as a text of one character a byte: a key of maps, with byte order as its order. */
export function idOf(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1')
}

/** The bytes of `idOf`. */
export function bytesOf(id: string): Uint8Array {
  return Buffer.from(id, 'latin1')
}

/**
 * The entries whose key starts with `prefix`, in order or from the last to the first. Nobody may write while it is
 * walked.
 */
export function* startingWith<V>(sorted: Sorted<V>, prefix: string, reverse: boolean): Generator<readonly [string, V]> {
  // One character above any byte: no key that starts with the prefix sorts after it, no other key is between.
  const entries = reverse ? sorted.entriesReversed(`${prefix}\u0100`) : sorted.entries(prefix)
  for (const entry of entries) {
    if (!entry[0].startsWith(prefix)) return
    yield entry
  }
}
