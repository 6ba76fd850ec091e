import { asBuffer } from '../base/bytes.ts'
import type { Connection } from './connection.ts'
import { HASH_BYTES } from './node.ts'
import { SLOTS } from './page.ts'
import { idOf } from './sorted.ts'
import { buildPages } from './sqlTree.ts'
import type { LeafChange } from './tree.ts'

/**
 * The leaves, in order, of the pages that schema versions 1 and 2 have: two bit masks (leaves, inner nodes), then slot
 * by slot a leaf's key hash and hash, or an inner node's hash. The key of a page is its length and two digits a byte.
 */
function* leavesBelow(connection: Connection, path: string): Generator<LeafChange> {
  const key = Buffer.from(
    `${path.length.toString(16).padStart(2, '0')}${path}${path.length % 2 === 0 ? '' : '0'}`,
    'hex',
  )
  const stored = connection.statement('SELECT page FROM old_pages WHERE path = ?').get(key) as [Uint8Array] | undefined
  if (stored === undefined) return
  const bytes = asBuffer(stored[0])
  const [leaves, inner] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)]
  let at = 4
  const hash = (): string => idOf(bytes.subarray(at, (at += HASH_BYTES)))
  for (let slot = 0; slot < SLOTS; slot++) {
    if (((leaves >> slot) & 1) === 1) yield { keyHash: hash(), hash: hash() }
    else if (((inner >> slot) & 1) === 1) {
      hash()
      yield* leavesBelow(connection, path + slot.toString(16))
    }
  }
}

/**
 * Makes the pages of schema version 3, which keep small subtrees whole, of those before. A later form of pages takes
 * its place.
 */
export function repage(connection: Connection): void {
  connection.db.exec('ALTER TABLE tree_pages RENAME TO old_pages')
  connection.db.exec('CREATE TABLE tree_pages (path INTEGER NOT NULL PRIMARY KEY, page BLOB NOT NULL) STRICT')
  buildPages(connection, leavesBelow(connection, ''))
  connection.db.exec('DROP TABLE old_pages')
}
