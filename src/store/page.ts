import { join, type Node } from './node.ts'

/** Slots of a page: one for each next nibble of the path. */
export const SLOTS = 16

// Two masks of two bytes, and at most a key hash and a hash a slot.
const PAGE_BYTES_MAX = 4 + SLOTS * 64

/** Four levels of the tree below one path: a node for each next nibble. A page other than the root's holds two leaves or more. */
export type Page = readonly (Node | undefined)[]

/** Its path, as lower-case hex digits: the first digits of the sha256 of every key below it. */
export type Path = string

/** The page without a node. */
export const EMPTY_PAGE: Page = new Array<undefined>(SLOTS).fill(undefined)

/** The page's nodes level by level: 16 slots, then 8, 4, 2 and the one that stands for the page in the page above. */
export function levelsOf(page: Page): readonly Page[] {
  const levels = [page]
  for (let level = page; level.length > 1; ) {
    const above: (Node | undefined)[] = []
    for (let at = 0; at < level.length; at += 2) above.push(join(level[at], level[at + 1]))
    levels.push((level = above))
  }
  return levels
}

// Levels of pages in use: a memory of `levelsOf`, which goes with its page.
const known = new WeakMap<Page, readonly Page[]>()

/**
 * The node that stands for `after` in the page above, where `after` is `before` but for the slots `changed`. Hashes only what is above
 * those slots, when the levels of `before` are still known; with `keep` those of `after` will be.
 */
export function topAfter(before: Page, after: Page, changed: readonly number[], keep: boolean): Node | undefined {
  const old = known.get(before)
  if (old === undefined) {
    const levels = levelsOf(after)
    if (keep) known.set(after, levels)
    return levels[4]?.[0]
  }
  const levels: Page[] = [after]
  let marks = changed.reduce((all, slot) => all | (1 << slot), 0)
  for (let level = 1; level <= 4; level++) {
    const below = levels[level - 1] as Page
    const nodes = [...old[level] as Page]
    let above = 0
    for (let at = 0; at < nodes.length; at++) {
      if (((marks >> (2 * at)) & 3) === 0) continue
      above |= 1 << at
      nodes[at] = join(below[2 * at], below[2 * at + 1])
    }
    marks = above
    levels.push(nodes)
  }
  if (keep) known.set(after, levels)
  return levels[4]?.[0]
}

// Whoever asks for the bytes of a page writes them before asking for the next.
const pageScratch = Buffer.alloc(PAGE_BYTES_MAX)

/**
 * Two bit masks (leaves, inner nodes), then slot by slot a leaf's key hash and hash, or an inner node's hash. At most 1,028 bytes, in
 * a buffer that the next call uses again.
 */
export function encodePage(page: Page): Uint8Array {
  let leaves = 0
  let inner = 0
  let at = 4
  for (let slot = 0; slot < SLOTS; slot++) {
    const node = page[slot]
    if (node === undefined) continue
    if (node.keyHash === undefined) inner |= 1 << slot
    else {
      leaves |= 1 << slot
      pageScratch.set(node.keyHash, at)
      at += 32
    }
    pageScratch.set(node.hash, at)
    at += 32
  }
  pageScratch.writeUInt16BE(leaves, 0)
  pageScratch.writeUInt16BE(inner, 2)
  return pageScratch.subarray(0, at)
}

/** The page of these bytes. */
export function decodePage(bytes: Uint8Array): Page {
  const leaves = ((bytes[0] as number) << 8) | (bytes[1] as number)
  const inner = ((bytes[2] as number) << 8) | (bytes[3] as number)
  const page: (Node | undefined)[] = []
  let at = 4
  const hash = (): Uint8Array => bytes.subarray(at, (at += 32))
  for (let slot = 0; slot < SLOTS; slot++) {
    if (((leaves >> slot) & 1) === 1) {
      const keyHash = hash()
      page.push({ hash: hash(), keyHash })
    } else page.push(((inner >> slot) & 1) === 1 ? { hash: hash() } : undefined)
  }
  return page
}

// As long as the longest path: its length, then 64 digits.
const pathScratch = Buffer.alloc(33)

/**
 * The path as a key of the pages' table: its length, then two digits a byte, so that the pages near the root lie together. In a buffer
 * that the next call uses again.
 */
export function pathBytes(path: Path): Uint8Array {
  pathScratch[0] = path.length
  const bytes = (path.length + 1) >> 1
  pathScratch.write(path.length % 2 === 0 ? path : `${path}0`, 1, bytes, 'hex')
  return pathScratch.subarray(0, 1 + bytes)
}
