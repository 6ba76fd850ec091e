import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { equalBytes, sha256 } from '../../base/bytes.ts'
import type { AnyTable, CommittedState } from '../store.ts'
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

function writeFile(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w')
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * The bytes of `parts`, one after the other, in pieces of `size`; the last may be shorter. A piece is overwritten by
 * the next.
 */
function* inPieces(parts: Iterable<Uint8Array>, size: number): Generator<Uint8Array> {
  const piece = new Uint8Array(size)
  let filled = 0
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const some = part.subarray(at, at + size - filled)
      piece.set(some, filled)
      filled += some.length
      at += some.length
      if (filled === size) {
        yield piece
        filled = 0
      }
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
}

function writeFiles(state: CommittedState, tables: readonly Table[], path: string, chunkBytes: number): Snapshot {
  const chunkHashes: Uint8Array[] = []
  let [records, bytes] = [0, 0]
  const counted = function* (): Generator<Uint8Array> {
    for (const record of recordsOf(state, tables)) {
      records++
      yield record
    }
  }
  for (const chunk of inPieces(counted(), chunkBytes)) {
    writeFile(join(path, chunkFile(chunkHashes.length)), chunk)
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
  writeFile(join(path, METADATA_FILE), metadataBytes)
  return { metadata, metadataBytes }
}

/**
 * Writes the snapshot of a committed state into `folder`, on disk and whole when it returns. Its bytes are a function
 * of the hashed rows, height and chain id: one that is there already stays, unless it is of a block that was rolled
 * back. `state` must not change meanwhile. Memory: one chunk. Throws what the file system throws, and leaves nothing
 * behind then.
 */
export function writeSnapshot(
  state: CommittedState,
  tables: readonly AnyTable[],
  folder: string,
  chunkBytes = CHUNK_BYTES,
): Snapshot {
  ensureFolder(folder)
  const path = mkdtempSync(join(folder, `${UNFINISHED}${state.height()}-`))
  try {
    const snapshot = writeFiles(state, tables as readonly unknown[] as readonly Table[], path, chunkBytes)
    sync(path)
    const place = snapshotPath(folder, state.height())
    const there = readSnapshot(place)
    if (there === undefined || !equalBytes(there.metadataBytes, snapshot.metadataBytes)) {
      if (existsSync(place)) removeSnapshot(folder, state.height())
      renameSync(path, place)
    }
    sync(folder)
    return snapshot
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
