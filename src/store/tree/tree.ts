import {
  EMPTY_HASH,
  EMPTY_ROOT,
  type Hash,
  HASH_BYTES,
  innerHash,
  LEAF_LENGTH,
  leafHash,
  type Leaves,
  type Node,
  nodeOf,
  sha256Text,
} from './node.ts'
import {
  areFew,
  EMPTY_PAGE,
  fewLeavesOf,
  isPaged,
  nibble,
  nodeAt,
  type Page,
  pageBelow,
  type Path,
  setSlot,
  slotOf,
} from './page.ts'
import { byCodeUnit, bytesOf } from '../sorted.ts'
import type { Change } from '../overlay.ts'
import type { StateReader } from '../state.ts'
import type { Table } from '../table.ts'

/** Reads one page of a committed tree; undefined when there is none. */
export type ReadPage = (path: Path) => Page | undefined

/** A leaf that is not as it was: its new hash, or undefined when it is gone. */
export interface LeafChange {
  readonly keyHash: Hash
  readonly hash: Hash | undefined
}

/** A tree after some changes: its root, 32 bytes, and the pages that differ; undefined for a page that is gone. */
export interface TreeUpdate {
  readonly root: Uint8Array
  readonly pages: ReadonlyMap<Path, Page | undefined>
}

const DIGITS = '0123456789abcdef'

/** Changes `from` to `to`, without the last, of those of a block: those below one path. */
interface Part {
  readonly changes: readonly LeafChange[]
  readonly from: number
  readonly to: number
}

/** The order of leaves. */
export const byKeyHash = (a: { readonly keyHash: Hash }, b: { readonly keyHash: Hash }): number =>
  byCodeUnit(a.keyHash, b.keyHash)

/** What `part` makes of `old`. */
function leavesAfter(old: Leaves, { changes, from, to }: Part): Leaves {
  let [after, taken, at] = ['', 0, 0]
  for (let next = from; next < to; next++) {
    const { keyHash, hash } = changes[next] as LeafChange
    while (at < old.length && old.slice(at, at + HASH_BYTES) < keyHash) at += LEAF_LENGTH
    after += old.slice(taken, at)
    if (old.startsWith(keyHash, at)) at += LEAF_LENGTH
    taken = at
    if (hash !== undefined) after += keyHash + hash
  }
  return after + old.slice(taken)
}

/**
 * The tree of `readPage` after `changes`, which are sorted by key hash, each once. Reads each page on the way once and
 * writes nothing. The root is a function of the leaves alone. Cost: the changed leaves times the depth of the tree.
 * Source: src/store/README.md, Rules.
 */
export function updateTree(readPage: ReadPage, changes: readonly LeafChange[]): TreeUpdate {
  const pages = new Map<Path, Page | undefined>()

  const updateSlot = (path: Path, node: Node | null, part: Part): Node | null => {
    if (node !== null && isPaged(node)) {
      const page = readPage(path)
      if (page === undefined) throw new Error(`the stored tree lacks its page ${path}`)
      return updatePage(path, page, part)
    }
    if (areFew(part.to - part.from, path)) {
      const leaves = leavesAfter(node?.leaves ?? '', part)
      if (areFew(leaves.length / LEAF_LENGTH, path)) return nodeOf(leaves, 4 * path.length)
    }
    return updatePage(path, pageBelow(node, path.length), part)
  }

  const updatePage = (path: Path, page: Page, { changes: all, from, to }: Part): Node | null => {
    const after = page.slice()
    for (let start = from, end = from; start < to; start = end) {
      const slot = nibble((all[start] as LeafChange).keyHash, path.length)
      do end++
      while (end < to && nibble((all[end] as LeafChange).keyHash, path.length) === slot)
      setSlot(after, slot, updateSlot(path + DIGITS[slot], slotOf(page, slot), { changes: all, from: start, to: end }))
    }
    const few = path === '' ? undefined : fewLeavesOf(after, path)
    if (few !== undefined) {
      pages.set(path, undefined)
      return nodeOf(few, 4 * path.length)
    }
    const top = nodeAt(after, 1)
    pages.set(path, top === null ? undefined : after)
    return top
  }

  const root = updatePage('', readPage('') ?? EMPTY_PAGE, { changes, from: 0, to: changes.length })
  return { root: root === null ? EMPTY_ROOT : bytesOf(root.hash), pages }
}

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
