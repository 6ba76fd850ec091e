import { EMPTY_ROOT, type Hash, type Node } from './node.ts'
import { EMPTY_PAGE, nodeAt, type Page, type Path, setSlot, slotOf } from './page.ts'
import { byCodeUnit, bytesOf } from './sorted.ts'

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

/** The nibble at `depth` of a hash. */
export function nibble(hash: Hash, depth: number): number {
  const byte = hash.charCodeAt(depth >> 1)
  return depth % 2 === 0 ? byte >> 4 : byte & 0x0f
}

const DIGITS = '0123456789abcdef'

/** Changes `from` to `to`, without the last, of those of a block: those below one path. */
interface Part { readonly changes: readonly LeafChange[]; readonly from: number; readonly to: number }

/** The order of leaves. */
export const byKeyHash = (a: { readonly keyHash: Hash }, b: { readonly keyHash: Hash }): number => byCodeUnit(a.keyHash, b.keyHash)

/** The leaves that `part` and the leaf that stood in its way come to, in order. */
function leavesAfter(old: Node | null, { changes, from, to }: Part): (LeafChange & Node)[] {
  const part = changes.slice(from, to)
  const leaves = part.filter((change): change is LeafChange & Node => change.hash !== undefined)
  if (old === null || part.some(({ keyHash }) => keyHash === old.keyHash)) return leaves
  return [...leaves, old as LeafChange & Node].sort(byKeyHash)
}

/**
 * The tree of `readPage` after `changes`, which are sorted by key hash, each once. Reads each page on the way once and writes
 * nothing. The root is a function of the leaves alone. Cost: the changed leaves times the depth of the tree.
 * Source: src/store/README.md, Rules.
 */
export function updateTree(readPage: ReadPage, changes: readonly LeafChange[]): TreeUpdate {
  const pages = new Map<Path, Page | undefined>()

  const updateSlot = (path: Path, node: Node | null, part: Part): Node | null => {
    if (node !== null && node.keyHash === undefined) {
      const page = readPage(path)
      if (page === undefined) throw new Error(`the stored tree lacks its page ${path}`)
      return updatePage(path, page, part)
    }
    const leaves = leavesAfter(node, part)
    if (leaves.length > 1) return updatePage(path, EMPTY_PAGE, { changes: leaves, from: 0, to: leaves.length })
    const [leaf] = leaves
    return leaf === undefined ? null : { hash: leaf.hash, keyHash: leaf.keyHash }
  }

  const updatePage = (path: Path, page: Page, { changes: all, from, to }: Part): Node | null => {
    const after = page.slice()
    for (let start = from, end = from; start < to; start = end) {
      const slot = nibble((all[start] as LeafChange).keyHash, path.length)
      do end++
      while (end < to && nibble((all[end] as LeafChange).keyHash, path.length) === slot)
      setSlot(after, slot, updateSlot(path + DIGITS[slot], slotOf(page, slot), { changes: all, from: start, to: end }))
    }
    const top = nodeAt(after, 1)
    const isGone = top === null || (top.keyHash !== undefined && path !== '')
    pages.set(path, isGone ? undefined : after)
    return top
  }

  const root = updatePage('', readPage('') ?? EMPTY_PAGE, { changes, from: 0, to: changes.length })
  return { root: root === null ? EMPTY_ROOT : bytesOf(root.hash), pages }
}
