import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '../../base/bytes.ts'
import { headOfState } from '../../modules/chain/keeper.ts'
import { tables } from '../../modules/registry.ts'
import {
  chunkFile,
  listSnapshots,
  METADATA_FILE,
  readChunk,
  readSnapshot,
  snapshotPath,
} from '../../store/snapshot/folder.ts'
import { type Snapshot, SNAPSHOT_FORMAT, snapshotHash } from '../../store/snapshot/format.ts'
import { NotARecord } from '../../store/snapshot/format.ts'
import { beginRestore } from '../../store/snapshot/restore.ts'
import { Failed } from '../failed.ts'
import { UserError } from '../userError.ts'

/** A snapshot and the folder of its files. */
export interface Found {
  readonly path: string
  readonly snapshot: Snapshot
}

const upper = (bytes: Uint8Array): string => toHex(bytes).toUpperCase()

/** A snapshot as it is printed: hashes in upper-case hex, as CometBFT prints them. */
export const printSnapshot = ({
  metadata: { chainId, height, appHash, records, bytes, chunkHashes },
  metadataBytes,
}: Snapshot) => ({
  height,
  format: SNAPSHOT_FORMAT,
  chain_id: chainId,
  chunks: chunkHashes.length,
  bytes,
  records,
  hash: upper(snapshotHash(metadataBytes)),
  app_hash: upper(appHash),
})

/**
 * The snapshot in `folder`, which is one itself or holds some: then that of `height`, or the newest. Throws a UserError
 * when there is none.
 */
export function findSnapshot(folder: string, height: number | undefined): Found {
  const newest = height ?? listSnapshots(folder)[0]?.metadata.height
  const isOne = existsSync(join(folder, METADATA_FILE))
  const path = isOne ? folder : newest === undefined ? undefined : snapshotPath(folder, newest)
  const snapshot = path === undefined ? undefined : readSnapshot(path)
  if (path === undefined || snapshot === undefined) {
    throw new UserError(`${folder}: there is no snapshot${height === undefined ? '' : ` of height ${height}`} in it`)
  }
  if (height !== undefined && snapshot.metadata.height !== height) {
    throw new UserError(`${folder}: is the snapshot of height ${snapshot.metadata.height}, not ${height}`)
  }
  return { path, snapshot }
}

/**
 * Restores a snapshot into a new database at `to`: every chunk is held against the metadata, and the rows against its
 * app hash. Throws Failed with what is wrong, and leaves no database then.
 */
export function restoreInto(to: string, { path, snapshot: { metadata } }: Found): void {
  const restore = beginRestore({ path: to, tables, metadata, headOf: headOfState })
  try {
    for (let index = 0; index < metadata.chunkHashes.length; index++) {
      const chunk = readChunk(path, index)
      const file = join(path, chunkFile(index))
      if (chunk === undefined) throw new Failed(`${file}: is missing, or longer than a chunk can be`)
      if (restore.add(chunk) === 'bad') throw new Failed(`${file}: is not the chunk that the metadata names`)
    }
    restore.finish()
  } catch (error) {
    restore.drop()
    if (error instanceof NotARecord)
      throw new Failed(`${path}: is no state of height ${metadata.height}: ${error.message}`)
    throw error
  }
}
