import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../../src/base/sha256.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { readChunk, snapshotPath } from '../../../src/store/snapshot/folder.ts'
import type { Snapshot, SnapshotMetadata } from '../../../src/store/snapshot/format.ts'
import { openRestore, type Restore } from '../../../src/store/sqlite/restore.ts'
import { writeSnapshot } from '../../../src/store/snapshot/write.ts'
import type { State } from '../../../src/store/state.ts'
import type { BlockInfo, CommittedState, Store } from '../../../src/store/store.ts'
import { makeModel, random, step } from '../model.ts'
import { tables } from '../tables.ts'

/** Commits what `write` writes as the next block. */
export function commitWith(store: Store, write: (state: State) => void): void {
  const overlay = createOverlay(store)
  write(overlay)
  const height = store.height() + 1
  store.commit(store.prepare(overlay), { height, timeMs: height * 1000, chainId: 'test', transactions: 0 })
}

/** Blocks of random writes, the same for a seed. */
export function commitRandom(store: Store, seed: number, blocks: number, writes = 120): void {
  const next = random(seed)
  for (let block = 0; block < blocks; block++) {
    commitWith(store, (state) => {
      const model = makeModel()
      for (let at = 0; at < writes; at++) step(next, state, model)
    })
  }
}

/** The snapshot of a state in `folder`, and its chunks. */
export function snapshotIn(
  folder: string,
  state: CommittedState,
  chunkBytes: number,
): { snapshot: Snapshot; chunks: Uint8Array[] } {
  const snapshot = writeSnapshot(state, tables, folder, chunkBytes)
  const path = snapshotPath(folder, snapshot.metadata.height)
  const chunks = snapshot.metadata.chunkHashes.map((_, index) => readChunk(path, index) as Uint8Array)
  return { snapshot, chunks }
}

/** Every file of a folder with its bytes. */
export const filesOf = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(path)
      .sort()
      .map((name) => [name, readFileSync(join(path, name)).toString('hex')]),
  )

/** Metadata that tells of other chunks, as a liar would write it: everything about them is right but what they hold. */
export const metadataOf = (
  metadata: SnapshotMetadata,
  stream: Uint8Array,
  records = metadata.records,
): SnapshotMetadata => ({
  ...metadata,
  records,
  bytes: stream.length,
  chunkBytes: stream.length,
  chunkHashes: [sha256(stream)],
})

/**
 * A restore of `metadata` into a database at `path`; the rows of these tables name no block, so the metadata is
 * believed.
 */
export const restoreAt = (path: string, metadata: SnapshotMetadata, head: Partial<BlockInfo> = {}): Restore => {
  const { chainId, height } = metadata
  return openRestore({ path, tables, metadata, headOf: () => ({ chainId, height, timeMs: height * 1000, ...head }) })
}

/** All rows of every table, local ones too, in every order. */
export const rowsOf = (state: CommittedState): unknown =>
  tables.map((table) => {
    const scans = [{}, ...Object.keys(table.indexes).map((index) => ({ index }))]
    return scans.map((scan) => [...state.scan(table as never, scan as never)])
  })
