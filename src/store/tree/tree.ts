import type { Change } from '../overlay.ts'
import { byCodeUnit, fromLatin1 } from '../sorted.ts'
import type { StateReader } from '../state.ts'
import type { Table } from '../table.ts'
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
  childOf,
  EMPTY_PAGE,
  fewLeavesOf,
  isPaged,
  nibble,
  nodeAt,
  type Page,
  pageBelow,
  type Path,
  setChild,
} from './page.ts'

/** Reads one page of a committed tree; undefined when there is none. */
export type ReadPage = (path: Path) => Page | undefined

/** A leaf that changed: its new hash, or undefined when it is gone. */
export interface LeafChange {
  readonly keyHash: Hash
  readonly hash: Hash | undefined
}

/**
 * A key that the tree gains or loses. The keys are stored beside the tree, so that a proof of absence can name the keys
 * next to a hash.
 */
export interface KeyChange {
  readonly keyHash: Hash
  /** Undefined when the key is gone. */
  readonly stateKey: Uint8Array | undefined
}

/** A tree after some changes: its root, 32 bytes, and the pages that differ; undefined for a page that is gone. */
export interface TreeUpdate {
  readonly root: Uint8Array
  readonly pages: ReadonlyMap<Path, Page | undefined>
}

/** What a block does to the tree. */
export interface TreeWrite extends TreeUpdate {
  readonly leaves: readonly LeafChange[]
  readonly keys: readonly KeyChange[]
}

const DIGITS = '0123456789abcdef'

/** The changes from `start` to `end`, exclusive, of those of a block: those below one path. */
interface ChangeRange {
  readonly changes: readonly LeafChange[]
  readonly start: number
  readonly end: number
}

/** Compares leaves by their key hash, which is the order of the tree. */
export const byKeyHash = (a: { readonly keyHash: Hash }, b: { readonly keyHash: Hash }): number =>
  byCodeUnit(a.keyHash, b.keyHash)

/** Applies a range of changes to `old`. */
function leavesAfter(old: Leaves, { changes, start, end }: ChangeRange): Leaves {
  let [after, copied, offset] = ['', 0, 0]
  for (let next = start; next < end; next++) {
    const { keyHash, hash } = changes[next] as LeafChange
    while (offset < old.length && old.slice(offset, offset + HASH_BYTES) < keyHash) offset += LEAF_LENGTH
    after += old.slice(copied, offset)
    if (old.startsWith(keyHash, offset)) offset += LEAF_LENGTH
    copied = offset
    if (hash !== undefined) after += keyHash + hash
  }
  return after + old.slice(copied)
}

/**
 * Works out the tree of `readPage` after `changes`, which are sorted by key hash, each once. It reads each page on the
 * way once and writes nothing. The root is a function of the leaves alone. The cost grows with the number of changed
 * leaves times the depth of the tree. Source: docs/inside-the-store.md, Rules.
 */
export function updateTree(readPage: ReadPage, changes: readonly LeafChange[]): TreeUpdate {
  const pages = new Map<Path, Page | undefined>()

  const updateChild = (path: Path, node: Node | null, range: ChangeRange): Node | null => {
    if (node !== null && isPaged(node)) {
      const page = readPage(path)
      if (page === undefined) throw new Error(`the stored tree lacks its page ${path}`)
      return updatePage(path, page, range)
    }
    if (areFew(range.end - range.start, path)) {
      const leaves = leavesAfter(node?.leaves ?? '', range)
      if (areFew(leaves.length / LEAF_LENGTH, path)) return nodeOf(leaves, 4 * path.length)
    }
    return updatePage(path, pageBelow(node, path.length), range)
  }

  const updatePage = (path: Path, before: Page, { start: first, end: last }: ChangeRange): Node | null => {
    const page = before.slice()
    for (let start = first, end = first; start < last; start = end) {
      const child = nibble((changes[start] as LeafChange).keyHash, path.length)
      do end++
      while (end < last && nibble((changes[end] as LeafChange).keyHash, path.length) === child)
      setChild(page, child, updateChild(path + DIGITS[child], childOf(before, child), { changes, start, end }))
    }
    const few = path === '' ? undefined : fewLeavesOf(page, path)
    if (few !== undefined) {
      pages.set(path, undefined)
      return nodeOf(few, 4 * path.length)
    }
    const top = nodeAt(page, 1)
    pages.set(path, top === null ? undefined : page)
    return top
  }

  const before = readPage('') ?? EMPTY_PAGE
  const root =
    changes.length === 0 ? nodeAt(before, 1) : updatePage('', before, { changes, start: 0, end: changes.length })
  return { root: root === null ? EMPTY_ROOT : fromLatin1(root.hash), pages }
}

/** Works out what the changes of rows do to the tree of `readPage`. Rows that are not hashed are left out. */
export function updateTreeByRows(readPage: ReadPage, changes: readonly Change[]): TreeWrite {
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
  return { ...updateTree(readPage, leaves), leaves, keys }
}

interface Leaf {
  readonly keyHash: Hash
  readonly hash: Hash
}

/** The hash of the subtree of `leaves`, which are in order and share the first `depth` bits of their key hashes. */
function hashAbove(leaves: readonly Leaf[], depth: number): Hash {
  if (leaves.length < 2) return leaves[0]?.hash ?? EMPTY_HASH
  const isRight = ({ keyHash }: Leaf): boolean => ((keyHash.charCodeAt(depth >> 3) >> (7 - (depth & 7))) & 1) === 1
  const cut = leaves.findIndex(isRight)
  const middle = cut < 0 ? leaves.length : cut
  return innerHash(hashAbove(leaves.slice(0, middle), depth + 1), hashAbove(leaves.slice(middle), depth + 1))
}

/**
 * The root of a set of keys and values by the definition alone, 32 bytes; zeros for none. Each key comes once.
 * Source: docs/inside-the-store.md, Rules.
 */
export function rootOf(rows: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): Uint8Array {
  const leaves: Leaf[] = []
  for (const [key, value] of rows) {
    const keyHash = sha256Text(key)
    leaves.push({ hash: leafHash(keyHash, value), keyHash })
  }
  return fromLatin1(hashAbove(leaves.sort(byKeyHash), 0))
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
