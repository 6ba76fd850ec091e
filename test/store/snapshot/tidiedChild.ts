/**
 * Makes a snapshot of one state again and again, and tells a line of each: `whole`, `broken`, or the code of the error. The
 * test tidies the folder meanwhile, and kills it. Argument: the folder.
 */
import { readdirSync, rmSync } from 'node:fs'
import { snapshotPath } from '../../../src/store/snapshot/folder.ts'
import { writeSnapshot } from '../../../src/store/snapshot/write.ts'
import { openMemoryStore } from '../../support/memoryStore.ts'
import { tell } from '../../support/tell.ts'
import { tables } from '../tables.ts'
import { commitRandom } from './support.ts'

const [to = ''] = process.argv.slice(2)
const store = openMemoryStore({ tables })
commitRandom(store, 0, 1, 600)

function write(): string {
  const path = snapshotPath(to, 1)
  rmSync(path, { recursive: true, force: true })
  try {
    const { metadata } = writeSnapshot(store, tables, to, 200)
    return readdirSync(path).length === metadata.chunkHashes.length + 1 ? 'whole' : 'broken'
  } catch (error) {
    return String((error as { readonly code?: unknown }).code)
  }
}

for (;;) tell(write())
