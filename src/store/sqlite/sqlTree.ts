import { equalBytes, toHex } from '../../base/bytes.ts'
import { makeCache } from '../cache.ts'
import type { Connection } from './connection.ts'
import { EMPTY_HASH, EMPTY_ROOT, type Hash, HASH_BYTES, LEAF_LENGTH } from '../tree/node.ts'
import { decodePage, encodePage, type Page, type Path, pathKey } from '../tree/page.ts'
import { byCodeUnit, bytesOf, idOf } from '../sorted.ts'
import { type BlockRecord, StoreError } from '../store.ts'
import { byKeyHash, type KeyChange, type LeafChange, type ReadPage, type TreeUpdate, updateTree } from '../tree/tree.ts'

/** What a block does to the tree. */
export interface TreeWrite {
  readonly update: TreeUpdate
  readonly leaves: readonly LeafChange[]
  readonly keys: readonly KeyChange[]
}

/**
 * The tree in a file. A block changes a page here and there, and most of them again in the next block: its leaves are
 * stored in one row of `tree_changes`, its pages wait in memory and are written for several blocks at once. A start
 * works out the waiting ones again.
 */
export interface SqlTree {
  /** A page of the committed tree. */
  readonly readPage: ReadPage
  /**
   * Writes what a block did, within its transaction. When that is on disk, what is returned brings the memory up to
   * date.
   */
  write(height: number, made: TreeWrite): () => void
  /** The same, and writes all pages that wait. */
  writeBack(made: TreeWrite): () => void
  /** The file holds another tree now. */
  forget(): void
}

/**
 * Blocks whose pages are written together. More make each page rarer on disk, and the block that writes them slower.
 */
export const BLOCKS_WAITING_MAX = 32

// 3 to 5 kB of memory each.
const PAGES_WAITING_MAX = 8192

// What a start works in, in 0.15 s.
const LEAVES_WAITING_MAX = 65_536

// What is built in one transaction.
const LEAVES_AT_ONCE = 4096

/** A page as it was last written back. */
function readStoredPage({ statement }: Connection, path: Path): Page | undefined {
  const raw = statement('SELECT page FROM tree_pages WHERE path = ?').get(pathKey(path)) as [Uint8Array] | undefined
  return raw === undefined ? undefined : decodePage(raw[0])
}

// The order of the table: pages that lie together are written together.
const byPath = ([a]: readonly [Path, unknown], [b]: readonly [Path, unknown]): number =>
  a.length - b.length || byCodeUnit(a, b)

/** Writes pages; undefined ones are removed. */
function writePages({ statement }: Connection, pages: ReadonlyMap<Path, Page | undefined>): void {
  for (const [path, page] of [...pages].sort(byPath)) {
    if (page === undefined) statement('DELETE FROM tree_pages WHERE path = ?').run(pathKey(path))
    // PERF: half the time of an INSERT with ON CONFLICT DO UPDATE.
    else statement('REPLACE INTO tree_pages VALUES (?, ?)').run(pathKey(path), encodePage(page))
  }
}

/**
 * Builds the pages of a whole tree, whose leaves come in order: so nearly every page is written once. Returns the root.
 */
export function buildPages(connection: Connection, leaves: Iterable<LeafChange>): Uint8Array {
  let root = EMPTY_ROOT
  let batch: LeafChange[] = []
  const put = connection.db.transaction(() => {
    const update = updateTree((path) => readStoredPage(connection, path), batch)
    writePages(connection, update.pages)
    root = update.root
    batch = []
  })
  for (const leaf of leaves) if (batch.push(leaf) === LEAVES_AT_ONCE) put()
  put()
  return root
}

function writeKeys({ statement }: Connection, keys: readonly KeyChange[]): void {
  for (const { keyHash, stateKey } of keys) {
    if (stateKey === undefined) statement('DELETE FROM tree_keys WHERE key_hash = ?').run(bytesOf(keyHash))
    else statement('INSERT INTO tree_keys VALUES (?, ?)').run(bytesOf(keyHash), stateKey)
  }
}

/** Key hash and hash of each leaf; the hash of the empty subtree for one that is gone. */
const encodeLeaves = (leaves: readonly LeafChange[]): Uint8Array =>
  bytesOf(leaves.map(({ keyHash, hash }) => keyHash + (hash ?? EMPTY_HASH)).join(''))

/**
 * What the stored pages lack of the blocks above `height`: every leaf that changed, as it is now; how many blocks and
 * changes that is.
 */
function changesSince({ statement }: Connection, height = 0) {
  const stored = statement('SELECT leaves FROM tree_changes WHERE height > ? ORDER BY height').all(height) as [
    Uint8Array,
  ][]
  const text = stored.map(([leaves]) => idOf(leaves)).join('')
  const leaves = new Map<Hash, LeafChange>()
  for (let at = 0; at < text.length; at += LEAF_LENGTH) {
    const keyHash = text.slice(at, at + HASH_BYTES)
    const hash = text.slice(at + HASH_BYTES, at + LEAF_LENGTH)
    leaves.set(keyHash, { keyHash, hash: hash === EMPTY_HASH ? undefined : hash })
  }
  return { blocks: stored.length, changes: text.length / LEAF_LENGTH, leaves: [...leaves.values()].sort(byKeyHash) }
}

/** Throws a StoreError unless `root` is what the last block committed. */
function assertRoot({ db }: Connection, root: Uint8Array, { height, appHash }: BlockRecord): void {
  if (equalBytes(root, appHash)) return
  throw new StoreError(
    `${db.name}: the tree of block ${height} has the root ${toHex(root).toUpperCase()}, not the committed app hash ` +
      `${toHex(appHash).toUpperCase()}: its pages were changed by hand or by the disk; sync this node anew`,
  )
}

/**
 * The trees that a connection sees, for one who only reads: what is returned gives the pages of the tree of `last`, the
 * block that is committed in the transaction under way. The pages that wait are kept between calls and only those of
 * new blocks are worked out: of 31 blocks with 65,536 leaves all of them take 0.15 s. Memory: PAGES_WAITING_MAX pages.
 * StoreError when they do not lead to its app hash.
 */
export function createTreeReader(connection: Connection): (last: BlockRecord) => ReadPage {
  let waiting = new Map<Path, Page | undefined>()
  // Of the blocks worked into them, and the root they lead to.
  let heights: readonly number[] = []
  let root: Uint8Array | undefined

  const readPage: ReadPage = (path) => (waiting.has(path) ? waiting.get(path) : readStoredPage(connection, path))

  const workIn = (now: readonly number[], above: number): void => {
    const update = updateTree(readPage, changesSince(connection, above).leaves)
    for (const [path, page] of update.pages) waiting.set(path, page)
    root = update.root
    heights = now
  }

  return (last) => {
    const stored = connection.statement('SELECT height FROM tree_changes ORDER BY height').all() as [bigint][]
    const now = stored.map(([height]) => Number(height))
    const isKnown = root !== undefined && heights.every((height, at) => height === now[at])
    if (isKnown && now.length > heights.length) workIn(now, heights.at(-1) ?? 0)
    // Pages were written back since, or a block was taken back, or the whole state was replaced: equal roots are equal
    // trees.
    if (!isKnown || root === undefined || !equalBytes(root, last.appHash)) {
      waiting = new Map()
      workIn(now, 0)
      assertRoot(connection, root as unknown as Uint8Array, last)
    }
    return readPage
  }
}

/**
 * The tree of `connection` for its one writer; at least `pagesCached` of the pages last used stay in memory. StoreError
 * when the page of the root and what waits do not lead to the app hash of `last`, the block committed last.
 */
export function openSqlTree(connection: Connection, last: BlockRecord, pagesCached: number): SqlTree {
  const cache = makeCache<Path, Page | undefined>(pagesCached)
  const waiting = new Map<Path, Page | undefined>()
  let [blocksWaiting, leavesWaiting] = [0, 0]

  const nothingWaits = (): void => {
    waiting.clear()
    ;[blocksWaiting, leavesWaiting] = [0, 0]
  }

  const readPage = (path: Path): Page | undefined => {
    if (waiting.has(path)) return waiting.get(path)
    const known = cache.get(path)
    if (known !== undefined || cache.has(path)) return known
    const page = readStoredPage(connection, path)
    cache.set(path, page)
    return page
  }

  const catchUp = (): void => {
    const { blocks, changes, leaves } = changesSince(connection)
    const { root, pages } = updateTree(readPage, leaves)
    assertRoot(connection, root, last)
    for (const [path, page] of pages) waiting.set(path, page)
    ;[blocksWaiting, leavesWaiting] = [blocks, changes]
  }

  const writeBack = ({ update, keys }: TreeWrite): (() => void) => {
    const pages = new Map([...waiting, ...update.pages])
    writeKeys(connection, keys)
    writePages(connection, pages)
    connection.statement('DELETE FROM tree_changes').run()
    return () => {
      nothingWaits()
      for (const [path, page] of pages) cache.set(path, page)
    }
  }

  const write = (height: number, made: TreeWrite): (() => void) => {
    const {
      update: { pages },
      leaves,
    } = made
    if (
      blocksWaiting + 1 >= BLOCKS_WAITING_MAX ||
      waiting.size + pages.size > PAGES_WAITING_MAX ||
      leavesWaiting + leaves.length > LEAVES_WAITING_MAX
    )
      return writeBack(made)
    writeKeys(connection, made.keys)
    connection.statement('INSERT INTO tree_changes VALUES (?, ?)').run(height, encodeLeaves(leaves))
    return () => {
      blocksWaiting++
      leavesWaiting += leaves.length
      for (const [path, page] of pages) waiting.set(path, page)
    }
  }

  catchUp()
  return {
    readPage,
    write,
    writeBack,
    forget: () => {
      nothingWaits()
      cache.clear()
    },
  }
}
