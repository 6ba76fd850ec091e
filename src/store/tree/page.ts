import { toLatin1 } from '../sorted.ts'
import { type Hash, HASH_BYTES, isLeaf, join, LEAF_LENGTH, type Leaves, type Node, nodeOf } from './node.ts'

/** The nodes on the lowest level of a page: one for each next nibble of the path. */
export const CHILDREN = 16

/**
 * The most leaves below a child that are kept in its page; more have a page of their own. With 1 in place of 8 a block of
 * 2,000 transfers takes 1.41 times the CPU among 330,000 rows and 1.09 times among 20,000 (docs/decisions/0016). With
 * 8 in place of 24 a transfer takes 1.2 times the CPU among 1,000,000 rows and 0.96 among 65,000 (0013).
 */
export const LEAVES_KEPT_MAX = 24

/**
 * The digits of the longest path. All leaves below it are kept in its page, however many. Keys whose sha256 agree in 64
 * bits do not come about by chance: each takes a search of 2^64 hashes.
 */
export const PATH_LENGTH_MAX = 15

/**
 * Four levels of the tree below one path, laid out as a heap: position 1 is the page's node in the page above, position
 * `n` is above 2n and 2n + 1, and the children begin at CHILDREN. Null stands for an empty subtree, and undefined, above
 * the children only, for a node that is not worked out yet. A child with more leaves than are kept has a page of its
 * own.
 */
export type Page = readonly (Node | null | undefined)[]

/** The path of a page, in lower-case hex: the first digits of the sha256 of every key below it. */
export type Path = string

/** The nibble at `depth` of a hash. */
export function nibble(hash: Hash, depth: number): number {
  const byte = hash.charCodeAt(depth >> 1)
  return depth % 2 === 0 ? byte >> 4 : byte & 0x0f
}

/** The page of an empty tree. */
export const EMPTY_PAGE: Page = Object.freeze(new Array<null>(2 * CHILDREN).fill(null))

/** The child of a page at a nibble. */
export const childOf = (page: Page, child: number): Node | null => page[CHILDREN + child] as Node | null

/** The node at a position. It is worked out when it is first asked for, and then kept in the page. */
export function nodeAt(page: Page, position: number): Node | null {
  const known = page[position]
  if (known !== undefined) return known
  const node = join(nodeAt(page, 2 * position), nodeAt(page, 2 * position + 1))
  ;(page as (Node | null)[])[position] = node
  return node
}

/** Creates a page with these children. */
export function pageOf(children: readonly (Node | null)[]): Page {
  const page = new Array<Node | null | undefined>(CHILDREN).fill(undefined)
  return page.concat(children)
}

/** Writes a child of a page that is not shared yet. The nodes above it are worked out anew. */
export function setChild(page: (Node | null | undefined)[], child: number, node: Node | null): void {
  page[CHILDREN + child] = node
  for (let position = (CHILDREN + child) >> 1; position > 0; position >>= 1) page[position] = undefined
}

/** True for a node whose leaves are in a page of its own. */
export const isPaged = (node: Node): boolean => node.leaves === ''

/** True when that many leaves below `path` are kept in the page above it, instead of in a page of their own. */
export const areFew = (count: number, path: Path): boolean => count <= LEAVES_KEPT_MAX || path.length > PATH_LENGTH_MAX

/** The page at a path of `depth` digits, made of the leaves that its node keeps. */
export function pageBelow(node: Node | null, depth: number): Page {
  if (node === null) return EMPTY_PAGE
  const children = new Array<Leaves>(CHILDREN).fill('')
  for (let offset = 0; offset < node.leaves.length; offset += LEAF_LENGTH) {
    const leaf = node.leaves.slice(offset, offset + LEAF_LENGTH)
    children[nibble(leaf, depth)] += leaf
  }
  return pageOf(children.map((leaves) => nodeOf(leaves, 4 * (depth + 1))))
}

/** All leaves of the page at `path` when the page above is to keep them; undefined when they are too many. */
export function fewLeavesOf(page: Page, path: Path): Leaves | undefined {
  let leaves = ''
  for (let child = 0; child < CHILDREN; child++) {
    const node = childOf(page, child)
    if (node === null) continue
    leaves += node.leaves
    if (isPaged(node) || !areFew(leaves.length / LEAF_LENGTH, path)) return undefined
  }
  return leaves
}

// The leaves of a child are counted in two bytes. This count stands for a node with a page of its own.
const PAGED = 0xffff
const COUNTS_BYTES = 2 * CHILDREN
const NO_COUNTS = '\0'.repeat(COUNTS_BYTES)

/**
 * Encodes a page: how many leaves each child keeps, in two bytes; then, child by child, its hash (a leaf has none) and
 * the key hash and hash of each leaf that it keeps. With 24 leaves in every child that is 25,120 bytes; among a
 * million leaves a page has 16,000.
 */
export function encodePage(page: Page): Uint8Array {
  const nodes = page.slice(CHILDREN) as readonly (Node | null)[]
  const text = nodes.map((node) => (node === null ? '' : isLeaf(node) ? node.leaves : node.hash + node.leaves)).join('')
  const bytes = Buffer.from(NO_COUNTS + text, 'latin1')
  for (const [child, node] of nodes.entries()) {
    if (node !== null) bytes.writeUInt16BE(isPaged(node) ? PAGED : node.leaves.length / LEAF_LENGTH, 2 * child)
  }
  return bytes
}

/** The page of these bytes. */
export function decodePage(bytes: Uint8Array): Page {
  // PERF: one text and its slices take half the time of a text for each hash.
  const text = toLatin1(bytes)
  let offset = COUNTS_BYTES
  const take = (length: number): string => text.slice(offset, (offset += length))
  const nodeOfCount = (count: number): Node | null => {
    if (count === 0) return null
    if (count === PAGED) return { hash: take(HASH_BYTES), leaves: '' }
    if (count > 1) return { hash: take(HASH_BYTES), leaves: take(count * LEAF_LENGTH) }
    return { hash: text.slice(offset + HASH_BYTES, offset + LEAF_LENGTH), leaves: take(LEAF_LENGTH) }
  }
  const children: (Node | null)[] = []
  for (let child = 0; child < CHILDREN; child++)
    children.push(nodeOfCount((text.charCodeAt(2 * child) << 8) | text.charCodeAt(2 * child + 1)))
  return pageOf(children)
}

/**
 * A path as the key of the table of pages: a 1, so that its leading zeros count, then its digits. The pages near the
 * root thus lie together.
 */
export const pathKey = (path: Path): bigint => BigInt(`0x1${path}`)
