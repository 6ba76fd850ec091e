import { compareBytes } from '../base/bytes.ts'
import { sha256 } from '../base/hash.ts'
import { EMPTY_HASH, join, leafHash, type Node } from './node.ts'
import type { StateReader } from './state.ts'
import type { Table } from './table.ts'

function subtree(leaves: readonly Node[], bit: number): Node | undefined {
  if (leaves.length < 2) return leaves[0]
  const isRight = (leaf: Node): boolean => ((((leaf.keyHash as Uint8Array)[bit >> 3] as number) >> (7 - (bit & 7))) & 1) === 1
  const cut = leaves.findIndex(isRight)
  const middle = cut < 0 ? leaves.length : cut
  return join(subtree(leaves.slice(0, middle), bit + 1), subtree(leaves.slice(middle), bit + 1))
}

/**
 * The root of a set of keys and values by the definition alone, 32 bytes; zeros for none. Keys are unique.
 * Source: src/store/README.md, Rules.
 */
export function rootOf(rows: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): Uint8Array {
  const leaves: Node[] = []
  for (const [key, value] of rows) {
    const keyHash = sha256(key)
    leaves.push({ hash: leafHash(keyHash, value), keyHash })
  }
  leaves.sort((a, b) => compareBytes(a.keyHash as Uint8Array, b.keyHash as Uint8Array))
  return subtree(leaves, 0)?.hash ?? EMPTY_HASH
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
