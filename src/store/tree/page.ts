import { type Hash, HASH_BYTES, isLeaf, join, LEAF_LENGTH, type Leaves, type Node, nodeOf } from './node.ts'
import { idOf } from '../sorted.ts'

/** Slots of a page: one for each next nibble of the path. */
export const SLOTS = 16

/** Most leaves below a slot that are kept in its page; more have a page of their own. */
export const LEAVES_KEPT_MAX = 8

/**
 * Digits of the longest path: what is deeper is kept, however much. Keys whose sha256 agree in 64 bits do not come by
 * themselves: each takes a search of 2^64 hashes.
 */
export const PATH_LENGTH_MAX = 15

/**
 * Four levels of the tree below one path, in the places of a heap: 1 stands for the page in the page above, `at` stands
 * above 2 · at and 2 · at + 1, and from SLOTS on there is a node for each next nibble. Null where nothing is;
 * undefined, above the slots, where it was not worked out yet. There is one below a slot that has more leaves than are
 * kept with it.
 */
export type Page = readonly (Node | null | undefined)[]

/** Its path, as lower-case hex digits: the first digits of the sha256 of every key below it. */
export type Path = string

/** The nibble at `depth` of a hash. */
export function nibble(hash: Hash, depth: number): number {
  const byte = hash.charCodeAt(depth >> 1)
  return depth % 2 === 0 ? byte >> 4 : byte & 0x0f
}

/** The page without a node. */
export const EMPTY_PAGE: Page = Object.freeze(new Array<null>(2 * SLOTS).fill(null))

/** The node in a slot. */
export const slotOf = (page: Page, slot: number): Node | null => page[SLOTS + slot] as Node | null

/** The node at a place, worked out when it is first asked for and kept in the page. */
export function nodeAt(page: Page, at: number): Node | null {
  const known = page[at]
  if (known !== undefined) return known
  const node = join(nodeAt(page, 2 * at), nodeAt(page, 2 * at + 1))
  ;(page as (Node | null)[])[at] = node
  return node
}

/** A page of these slots. */
export function pageOf(slots: readonly (Node | null)[]): Page {
  const page = new Array<Node | null | undefined>(SLOTS).fill(undefined)
  return page.concat(slots)
}

/** Puts a node into a slot of a page that nobody else holds yet; what stands above it is to be worked out anew. */
export function setSlot(page: (Node | null | undefined)[], slot: number, node: Node | null): void {
  page[SLOTS + slot] = node
  for (let at = (SLOTS + slot) >> 1; at > 0; at >>= 1) page[at] = undefined
}

/** True for a node whose leaves are in a page of its own. */
export const isPaged = (node: Node): boolean => node.leaves === ''

/** True for as many leaves below `path` as are kept in the page above. */
export const areFew = (count: number, path: Path): boolean => count <= LEAVES_KEPT_MAX || path.length > PATH_LENGTH_MAX

/** The page at a path of `depth` digits, of the leaves that the node there keeps. */
export function pageBelow(node: Node | null, depth: number): Page {
  if (node === null) return EMPTY_PAGE
  const slots = new Array<Leaves>(SLOTS).fill('')
  for (let at = 0; at < node.leaves.length; at += LEAF_LENGTH) {
    const leaf = node.leaves.slice(at, at + LEAF_LENGTH)
    slots[nibble(leaf, depth)] += leaf
  }
  return pageOf(slots.map((leaves) => nodeOf(leaves, 4 * (depth + 1))))
}

/** All leaves of the page at `path` when they are to be kept in the page above; undefined when they are too many. */
export function fewLeavesOf(page: Page, path: Path): Leaves | undefined {
  let leaves = ''
  for (let slot = 0; slot < SLOTS; slot++) {
    const node = slotOf(page, slot)
    if (node === null) continue
    leaves += node.leaves
    if (isPaged(node) || !areFew(leaves.length / LEAF_LENGTH, path)) return undefined
  }
  return leaves
}

// A slot's leaves are counted in two bytes; this for a node with a page of its own.
const PAGED = 0xffff
const HEAD_BYTES = 2 * SLOTS
const NO_HEAD = '\0'.repeat(HEAD_BYTES)

/**
 * How many leaves each slot keeps, in two bytes; then slot by slot its hash, but for a leaf, and what it keeps: the key
 * hash and hash of each leaf. With 8 leaves in each slot 8,736 bytes; one page among a million leaves has 1,150.
 */
export function encodePage(page: Page): Uint8Array {
  const nodes = page.slice(SLOTS) as readonly (Node | null)[]
  const text = nodes.map((node) => (node === null ? '' : isLeaf(node) ? node.leaves : node.hash + node.leaves)).join('')
  const bytes = Buffer.from(NO_HEAD + text, 'latin1')
  for (const [slot, node] of nodes.entries()) {
    if (node !== null) bytes.writeUInt16BE(isPaged(node) ? PAGED : node.leaves.length / LEAF_LENGTH, 2 * slot)
  }
  return bytes
}

/** The page of these bytes. */
export function decodePage(bytes: Uint8Array): Page {
  // PERF: one text and its slices take half the time of a text for each hash.
  const text = idOf(bytes)
  let at = HEAD_BYTES
  const take = (length: number): string => text.slice(at, (at += length))
  const nodeOfCount = (count: number): Node | null => {
    if (count === 0) return null
    if (count === PAGED) return { hash: take(HASH_BYTES), leaves: '' }
    if (count > 1) return { hash: take(HASH_BYTES), leaves: take(count * LEAF_LENGTH) }
    return { hash: text.slice(at + HASH_BYTES, at + LEAF_LENGTH), leaves: take(LEAF_LENGTH) }
  }
  const slots: (Node | null)[] = []
  for (let slot = 0; slot < SLOTS; slot++)
    slots.push(nodeOfCount((text.charCodeAt(2 * slot) << 8) | text.charCodeAt(2 * slot + 1)))
  return pageOf(slots)
}

/**
 * The path as a key of the pages' table: a 1, so that its zeros count, then its digits. The pages near the root lie
 * together.
 */
export const pathKey = (path: Path): bigint => BigInt(`0x1${path}`)
