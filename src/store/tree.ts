import { EMPTY_HASH, type Node } from './node.ts'
import { EMPTY_PAGE, type Page, type Path, topAfter } from './page.ts'

/** Reads one page of a committed tree; undefined when there is none. */
export type ReadPage = (path: Path) => Page | undefined

/** A leaf that is not as it was: its new hash, or undefined when it is gone. */
export interface LeafChange {
  readonly keyHash: Uint8Array
  readonly hash: Uint8Array | undefined
}

/** A tree after some changes: its root, and the pages that differ; undefined for a page that is gone. */
export interface TreeUpdate {
  readonly root: Uint8Array
  readonly pages: ReadonlyMap<Path, Page | undefined>
}

/** The nibble at `depth` of a hash. */
export function nibble(hash: Uint8Array, depth: number): number {
  const byte = hash[depth >> 1] as number
  return depth % 2 === 0 ? byte >> 4 : byte & 0x0f
}

// Pages above this depth are dense and change in nearly every block: their levels stay in memory, at most 4,369 of them.
const DEPTH_KEPT = 3

const DIGITS = '0123456789abcdef'

const sameHash = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/** `changes` and the leaf that stood in their way, in order and without those that are gone. */
function leavesAfter(old: Node | undefined, changes: readonly LeafChange[]): LeafChange[] {
  const leaves = changes.filter(({ hash }) => hash !== undefined)
  const keyHash = old?.keyHash
  if (old === undefined || keyHash === undefined || changes.some((change) => sameHash(change.keyHash, keyHash))) return leaves
  return [...leaves, { keyHash, hash: old.hash }].sort((a, b) => Buffer.compare(a.keyHash, b.keyHash))
}

/**
 * The tree of `readPage` after `changes`, which are sorted by key hash, each once. Reads each page on the way once and writes
 * nothing. The root is a function of the leaves alone. Cost: the changed leaves times the depth of the tree.
 * Source: src/store/README.md, Rules.
 */
export function updateTree(readPage: ReadPage, changes: readonly LeafChange[]): TreeUpdate {
  const pages = new Map<Path, Page | undefined>()

  const updateSlot = (path: Path, node: Node | undefined, part: readonly LeafChange[]): Node | undefined => {
    if (node !== undefined && node.keyHash === undefined) {
      const page = readPage(path)
      if (page === undefined) throw new Error(`the stored tree lacks its page ${path}`)
      return updatePage(path, page, part)
    }
    const leaves = leavesAfter(node, part)
    if (leaves.length < 2) return leaves[0] as Node | undefined
    return updatePage(path, EMPTY_PAGE, leaves)
  }

  const updatePage = (path: Path, page: Page, part: readonly LeafChange[]): Node | undefined => {
    const after = [...page]
    const changed: number[] = []
    for (let start = 0, end = 0; start < part.length; start = end) {
      const slot = nibble((part[start] as LeafChange).keyHash, path.length)
      do end++
      while (end < part.length && nibble((part[end] as LeafChange).keyHash, path.length) === slot)
      changed.push(slot)
      after[slot] = updateSlot(path + DIGITS[slot], after[slot], part.slice(start, end))
    }
    const top = topAfter(page, after, changed, path.length <= DEPTH_KEPT)
    const isGone = top === undefined || (top.keyHash !== undefined && path !== '')
    pages.set(path, isGone ? undefined : after)
    return top
  }

  const root = updatePage('', readPage('') ?? EMPTY_PAGE, changes)
  return { root: root?.hash ?? EMPTY_HASH, pages }
}
