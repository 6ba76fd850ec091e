import { EMPTY_HASH, type Hash, innerHash, leafHash, sha256Text } from './node.ts'
import { bytesOf } from './sorted.ts'
import type { StateReader } from './state.ts'
import type { Table } from './table.ts'
import { byKeyHash } from './tree.ts'

interface Leaf {
  readonly keyHash: Hash
  readonly hash: Hash
}

/** The hash above leaves in order, all below one path of `depth` bits. */
function hashAbove(leaves: readonly Leaf[], depth: number): Hash {
  if (leaves.length < 2) return leaves[0]?.hash ?? EMPTY_HASH
  const isRight = ({ keyHash }: Leaf): boolean => ((keyHash.charCodeAt(depth >> 3) >> (7 - (depth & 7))) & 1) === 1
  const cut = leaves.findIndex(isRight)
  const middle = cut < 0 ? leaves.length : cut
  return innerHash(hashAbove(leaves.slice(0, middle), depth + 1), hashAbove(leaves.slice(middle), depth + 1))
}

/**
 * The root of a set of keys and values by the definition alone, 32 bytes; zeros for none. Keys are unique.
 * Source: src/store/README.md, Rules.
 */
export function rootOf(rows: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): Uint8Array {
  const leaves: Leaf[] = []
  for (const [key, value] of rows) {
    const keyHash = sha256Text(key)
    leaves.push({ hash: leafHash(keyHash, value), keyHash })
  }
  return bytesOf(hashAbove(leaves.sort(byKeyHash), 0))
}

/** The root of every hashed row of `state`, by the definition. */
export function rootOfTables(state: StateReader, tables: readonly Table[]): Uint8Array {
  const rows = function* (): Generator<readonly [Uint8Array, Uint8Array]> {
    for (const table of tables) {
      if (table.hashed) for (const row of state.scan(table)) yield [table.keyOf(row), table.encode(row)]
    }
  }
  return rootOf(rows())
}
