import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { equalBytes } from '../../base/bytes.ts'
import { sha256 } from '../../base/sha256.ts'
import type { CommittedState } from '../store.ts'
import type { Table } from '../table.ts'
import { chunkFile, METADATA_FILE, readSnapshot, removeSnapshot, snapshotPath, UNFINISHED } from './folder.ts'
import { CHUNK_BYTES, encodeMetadata, recordsOf, type Snapshot } from './format.ts'

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Cuts the bytes of all records into chunks of `size`; the last may be shorter. Each chunk overwrites the one before. */
function* toChunks(records: Iterable<Uint8Array>, size: number): Generator<Uint8Array> {
  const chunk = new Uint8Array(size)
  let filled = 0
  for (const record of records) {
    for (let offset = 0; offset < record.length; ) {
      const bytes = record.subarray(offset, offset + size - filled)
      chunk.set(bytes, filled)
      filled += bytes.length
      offset += bytes.length
      if (filled === size) {
        yield chunk
        filled = 0
      }
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}

function* writeFiles(
  state: CommittedState,
  tables: readonly Table[],
  path: string,
  chunkBytes: number,
): Generator<undefined, Snapshot> {
  const chunkHashes: Uint8Array[] = []
  let [records, bytes] = [0, 0]
  const counted = function* (): Generator<Uint8Array> {
    for (const record of recordsOf(state, tables)) {
      records++
      yield record
    }
  }
  for (const chunk of toChunks(counted(), chunkBytes)) {
    if (chunkHashes.length > 0) yield
    writeFileSync(join(path, chunkFile(chunkHashes.length)), chunk, { flush: true })
    chunkHashes.push(sha256(chunk))
    bytes += chunk.length
  }
  const chainId = state.chainId()
  if (chainId === undefined || records === 0) throw new Error('a snapshot before the first block')
  const metadata = {
    chainId,
    height: state.height(),
    appHash: state.appHash(),
    records,
    bytes,
    chunkBytes,
    chunkHashes,
  }
  const metadataBytes = encodeMetadata(metadata)
  writeFileSync(join(path, METADATA_FILE), metadataBytes, { flush: true })
  return { metadata, metadataBytes }
}

/** True when this very snapshot is in `path` already, with all its chunks. */
function isThere(path: string, { metadata, metadataBytes }: Snapshot): boolean {
  const existing = readSnapshot(path)
  return (
    existing !== undefined &&
    equalBytes(existing.metadataBytes, metadataBytes) &&
    metadata.chunkHashes.every((_, index) => existsSync(join(path, chunkFile(index))))
  )
}

/** `writeSnapshot`, which pauses between chunks. One that is ended before leaves nothing behind. */
export function* snapshotSteps(
  state: CommittedState,
  tables: readonly Table[],
  folder: string,
  chunkBytes = CHUNK_BYTES,
): Generator<undefined, Snapshot> {
  ensureFolder(folder)
  const path = mkdtempSync(join(folder, `${UNFINISHED}${state.height()}-`))
  try {
    const snapshot = yield* writeFiles(state, tables, path, chunkBytes)
    sync(path)
    const target = snapshotPath(folder, state.height())
    if (!isThere(target, snapshot)) {
      if (existsSync(target)) removeSnapshot(folder, state.height())
      renameSync(path, target)
    }
    sync(folder)
    return snapshot
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Writes the snapshot of a committed state into `folder`; it is whole and on disk when the call returns. Its bytes are a
 * function of the hashed rows, the height and the chain id, so one that exists already is kept, unless it lacks a chunk
 * or is of a block that was rolled back. `state` must not change meanwhile. Memory: one chunk. Throws what the file
 * system throws, and then leaves nothing behind: ENOENT when another process removed what was written, as
 * `tidySnapshots` does.
 *
 * @example
 * // In a thread of its own, while blocks go on.
 * const snapshot = reader.read((state) => writeSnapshot(state, [balances], 'snapshots'))
 */
export function writeSnapshot(
  state: CommittedState,
  tables: readonly Table[],
  folder: string,
  chunkBytes = CHUNK_BYTES,
): Snapshot {
  const steps = snapshotSteps(state, tables, folder, chunkBytes)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
