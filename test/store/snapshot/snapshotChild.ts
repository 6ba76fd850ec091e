/**
 * Takes one snapshot after the other in place of the state, makes a snapshot of each, and tells a line, for ever: the
 * test kills it. Arguments: the state's database, the folders of the snapshots that are taken, the folder of those that
 * are made.
 */
import { join } from 'node:path'
import { listSnapshots, readChunk, snapshotPath } from '../../../src/store/snapshot/folder.ts'
import type { Snapshot } from '../../../src/store/snapshot/format.ts'
import { writeSnapshot } from '../../../src/store/snapshot/write.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { rmSync } from 'node:fs'
import { restoreAt } from './support.ts'
import { tables } from '../tables.ts'
import { tell } from '../../support/tell.ts'

const [path = '', from = '', to = ''] = process.argv.slice(2)
const store = openSqliteStore({ path, tables })
for (;;) {
  for (const { metadata } of listSnapshots(from) as readonly Snapshot[]) {
    const restore = restoreAt(`${path}.restore`, metadata)
    for (const index of metadata.chunkHashes.keys())
      restore.add(readChunk(snapshotPath(from, metadata.height), index) as Uint8Array)
    restore.finish()
    store.replaceBy(`${path}.restore`)
    tell(metadata.height)
    rmSync(join(to, `${metadata.height}-1`), { recursive: true, force: true })
    writeSnapshot(store, tables, to, 500)
  }
}
