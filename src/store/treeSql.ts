import type { Connection } from './connection.ts'
import { encodePage, pathBytes } from './page.ts'
import { bytesOf } from './sorted.ts'
import type { TreeUpdate } from './tree.ts'
import type { KeyChange } from './treeChanges.ts'

/** Writes the pages and keys that differ. */
export function writeTree({ statement }: Connection, update: TreeUpdate, keys: readonly KeyChange[]): void {
  for (const [path, page] of update.pages) {
    if (page === undefined) statement('DELETE FROM tree_pages WHERE path = ?').run(pathBytes(path))
    // PERF: half the time of an INSERT with ON CONFLICT DO UPDATE.
    else statement('REPLACE INTO tree_pages VALUES (?, ?)').run(pathBytes(path), encodePage(page))
  }
  for (const { keyHash, stateKey } of keys) {
    if (stateKey === undefined) statement('DELETE FROM tree_keys WHERE key_hash = ?').run(bytesOf(keyHash))
    else statement('INSERT INTO tree_keys VALUES (?, ?)').run(bytesOf(keyHash), stateKey)
  }
}
