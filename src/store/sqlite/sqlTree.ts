import QuickLRU from 'quick-lru'
import { equalBytes, toHex } from '../../base/bytes.ts'
import { byCodeUnit, fromLatin1, toLatin1 } from '../sorted.ts'
import type { BlockRecord } from '../store.ts'
import { EMPTY_HASH, EMPTY_ROOT, type Hash, HASH_BYTES, LEAF_LENGTH } from '../tree/node.ts'
import { decodePage, encodePage, type Page, type Path, pathKey } from '../tree/page.ts'
import { byKeyHash, type KeyChange, type LeafChange, type ReadPage, type TreeWrite, updateTree } from '../tree/tree.ts'
import type { Connection } from '../../base/sqlite.ts'
import { StoreError } from '../../base/storeError.ts'

/**
 * How many blocks' pages are written together. More of them make each page rarer on disk, and the block that writes them
 * slower. With 1 in place of 32 a block of 2,000 transfers among 330,000 rows takes 1.34 times the CPU and writes
 * twice the bytes, and a block of 60 transfers takes 1.12 to 1.16 times the CPU (docs/decisions/0016).
 */
export const BLOCKS_WAITING_MAX = 32

// A page takes 3 to 30 kB of memory, and 19 kB among a million leaves, where the tree has 4,369 of them.
const PAGES_WAITING_MAX = 8192

// Opening the store applies these to the tree within 0.15 s.
const LEAVES_WAITING_MAX = 65_536

// The leaves that are built into the tree in one transaction.
const LEAVES_AT_ONCE = 4096

/** Reads a page as it was last written. */
function readStoredPage({ statement }: Connection, path: Path): Page | undefined {
  const raw = statement('SELECT page FROM tree_pages WHERE path = ?').get(pathKey(path)) as [Uint8Array] | undefined
  return raw === undefined ? undefined : decodePage(raw[0])
}

// The order of the table: pages that lie together are written together.
const byPath = ([a]: readonly [Path, unknown], [b]: readonly [Path, unknown]): number =>
  a.length - b.length || byCodeUnit(a, b)

/** Writes pages, and removes those that are undefined. */
function writePages({ statement }: Connection, pages: ReadonlyMap<Path, Page | undefined>): void {
  for (const [path, page] of [...pages].sort(byPath)) {
    if (page === undefined) statement('DELETE FROM tree_pages WHERE path = ?').run(pathKey(path))
    // PERF: half the time of an INSERT with ON CONFLICT DO UPDATE.
    else statement('REPLACE INTO tree_pages VALUES (?, ?)').run(pathKey(path), encodePage(page))
  }
}

/** Builds the pages of a whole tree, whose leaves come in order, so that nearly every page is written once. Returns the root. */
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
    if (stateKey === undefined) statement('DELETE FROM tree_keys WHERE key_hash = ?').run(fromLatin1(keyHash))
    else statement('INSERT INTO tree_keys VALUES (?, ?)').run(fromLatin1(keyHash), stateKey)
  }
}

/** The key hash and hash of each leaf; the hash of the empty subtree for one that is gone. */
const encodeLeaves = (leaves: readonly LeafChange[]): Uint8Array =>
  fromLatin1(leaves.map(({ keyHash, hash }) => keyHash + (hash ?? EMPTY_HASH)).join(''))

/**
 * The changes of blocks above `height` that the stored pages do not hold: how many blocks and changed leaves, and each
 * of these leaves as it is now.
 */
function changesSince({ statement }: Connection, height = 0) {
  const raws = statement('SELECT leaves FROM tree_changes WHERE height > ? ORDER BY height').all(height)
  const stored = raws as readonly [Uint8Array][]
  const text = stored.map(([leaves]) => toLatin1(leaves)).join('')
  const leaves = new Map<Hash, LeafChange>()
  for (let offset = 0; offset < text.length; offset += LEAF_LENGTH) {
    const keyHash = text.slice(offset, offset + HASH_BYTES)
    const hash = text.slice(offset + HASH_BYTES, offset + LEAF_LENGTH)
    leaves.set(keyHash, { keyHash, hash: hash === EMPTY_HASH ? undefined : hash })
  }
  return { blocks: stored.length, changes: text.length / LEAF_LENGTH, leaves: [...leaves.values()].sort(byKeyHash) }
}

/** Throws a StoreError unless `root` is what the last block committed. */
function assertRoot({ db }: Connection, root: Uint8Array, { height, appHash }: BlockRecord): void {
  if (equalBytes(root, appHash)) return
  throw new StoreError(
    'damaged',
    `${db.name}: the tree of block ${height} has the root ${toHex(root).toUpperCase()}, not the committed app hash ` +
      `${toHex(appHash).toUpperCase()}: its pages were changed by hand or by the disk; sync this node anew`,
  )
}

/**
 * Creates the tree of a connection that only reads. The function returned gives the pages of the tree of `last`, the
 * block that is committed in the transaction under way. The pages that wait are kept between calls, and only those of
 * new blocks are worked out: all 31 blocks with 65,536 leaves take 0.15 s. Memory: PAGES_WAITING_MAX pages. StoreError
 * when the pages do not lead to the app hash of `last`.
 */
export function createTreeReader(connection: Connection): (last: BlockRecord) => ReadPage {
  const waiting = new Map<Path, Page | undefined>()
  // The blocks that were worked in, and the root that they lead to.
  let heights: readonly number[] = []
  let root: Uint8Array | undefined

  const readPage: ReadPage = (path) => (waiting.has(path) ? waiting.get(path) : readStoredPage(connection, path))

  const workIn = (above: number): Uint8Array => {
    const update = updateTree(readPage, changesSince(connection, above).leaves)
    for (const [path, page] of update.pages) waiting.set(path, page)
    return update.root
  }

  return (last) => {
    const raws = connection.statement('SELECT height FROM tree_changes ORDER BY height').all() as [bigint][]
    const heightsNow = raws.map(([height]) => Number(height))
    const isSame = heights.every((height, position) => height === heightsNow[position])
    if (root !== undefined && isSame && heightsNow.length > heights.length) root = workIn(heights.at(-1) ?? 0)
    // Otherwise pages were written back since, or a block was taken back, or the whole state was replaced. Equal roots
    // are equal trees.
    if (root === undefined || !isSame || !equalBytes(root, last.appHash)) {
      waiting.clear()
      root = workIn(0)
      assertRoot(connection, root, last)
    }
    heights = heightsNow
    return readPage
  }
}

/**
 * Opens the tree of `connection` for its one writer. A block changes a page here and there, and most of them again in the
 * next block. Its leaves are therefore stored in one row of `tree_changes`; its pages wait in memory and are written for
 * several blocks at once. A start works out the waiting pages again. At least `pagesCached` of the pages last used stay in
 * memory. StoreError when the stored pages and what waits do not lead to the app hash of `last`, the block committed last.
 */
export function openSqlTree(connection: Connection, last: BlockRecord, pagesCached: number) {
  const cache = new QuickLRU<Path, Page | undefined>({ maxSize: pagesCached })
  const waiting = new Map<Path, Page | undefined>()
  let [blocksWaiting, leavesWaiting] = [0, 0]

  const stopWaiting = (): void => {
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

  const writeBack = ({ pages: changed, keys }: TreeWrite): (() => void) => {
    const pages = new Map([...waiting, ...changed])
    writeKeys(connection, keys)
    writePages(connection, pages)
    connection.statement('DELETE FROM tree_changes').run()
    return () => {
      stopWaiting()
      for (const [path, page] of pages) cache.set(path, page)
    }
  }

  const write = (height: number, made: TreeWrite): (() => void) => {
    const { pages, leaves, keys } = made
    if (
      blocksWaiting + 1 >= BLOCKS_WAITING_MAX ||
      waiting.size + pages.size > PAGES_WAITING_MAX ||
      leavesWaiting + leaves.length > LEAVES_WAITING_MAX
    )
      return writeBack(made)
    writeKeys(connection, keys)
    connection.statement('INSERT INTO tree_changes VALUES (?, ?)').run(height, encodeLeaves(leaves))
    return () => {
      blocksWaiting++
      leavesWaiting += leaves.length
      for (const [path, page] of pages) {
        waiting.set(path, page)
        cache.delete(path)
      }
    }
  }

  const stored = changesSince(connection)
  const { root, pages } = updateTree(readPage, stored.leaves)
  assertRoot(connection, root, last)
  for (const [path, page] of pages) waiting.set(path, page)
  ;[blocksWaiting, leavesWaiting] = [stored.blocks, stored.changes]

  return {
    /** Reads a page of the committed tree. */
    readPage,
    /**
     * Writes what a block did, within its transaction. Call the function returned once the transaction is on disk: it
     * brings the memory up to date.
     */
    write,
    /** Like `write`, and also writes all pages that wait. */
    writeBack,
    /** Forgets all that is in memory: the file holds another tree now. */
    forget: (): void => {
      stopWaiting()
      cache.clear()
    },
  }
}
