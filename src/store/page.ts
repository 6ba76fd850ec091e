import { asBuffer } from '../base/bytes.ts'
import { type Hash, HASH_BYTES, join, type Node } from './node.ts'
import { idOf } from './sorted.ts'

/** Slots of a page: one for each next nibble of the path. */
export const SLOTS = 16

// Two masks of two bytes, and at most a key hash and a hash a slot.
const PAGE_BYTES_MAX = 4 + SLOTS * 64

/**
 * Four levels of the tree below one path, in the places of a heap: 1 stands for the page in the page above, `at` stands above 2 · at and
 * 2 · at + 1, and from SLOTS on there is a node for each next nibble. Null where nothing is; undefined, above the slots, where it was not
 * worked out yet. A page other than the root's holds two leaves or more.
 */
export type Page = readonly (Node | null | undefined)[]

/** Its path, as lower-case hex digits: the first digits of the sha256 of every key below it. */
export type Path = string

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
    const node = slotOf(page, slot)
    if (node === null) continue
    if (node.keyHash === undefined) inner |= 1 << slot
    else {
      leaves |= 1 << slot
      at += pageScratch.write(node.keyHash, at, 'latin1')
    }
    at += pageScratch.write(node.hash, at, 'latin1')
  }
  pageScratch.writeUInt16BE(leaves, 0)
  pageScratch.writeUInt16BE(inner, 2)
  return pageScratch.subarray(0, at)
}

/** The page of these bytes. */
export function decodePage(bytes: Uint8Array): Page {
  const buffer = asBuffer(bytes)
  const leaves = buffer.readUInt16BE(0)
  const inner = buffer.readUInt16BE(2)
  const slots: (Node | null)[] = []
  // PERF: one text and its slices take half the time of a text for each hash.
  const text = idOf(bytes)
  let at = 4
  const hash = (): Hash => text.slice(at, (at += HASH_BYTES))
  for (let slot = 0; slot < SLOTS; slot++) {
    const keyHash = ((leaves >> slot) & 1) === 1 ? hash() : undefined
    slots.push(keyHash === undefined && ((inner >> slot) & 1) === 0 ? null : { hash: hash(), keyHash })
  }
  return pageOf(slots)
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
