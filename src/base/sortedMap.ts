import type BTreeClass from 'sorted-btree'
import sortedBtree from 'sorted-btree'

/**
 * A map in the order of its keys. `clone` and `with` copy it at once: the copies share their nodes until one of them is
 * written.
 */
export type SortedMap<K, V> = BTreeClass.default<K, V>

// The package is CommonJS: its default export is a member of what Node imports.
const BTree = sortedBtree.default

/** Creates an empty map in the order of `compare`. */
export const createSortedMap = <K, V>(compare: (a: K, b: K) => number): SortedMap<K, V> =>
  new BTree<K, V>(undefined, compare)
