import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chunkFile, newestHeights, readSnapshot, snapshotPath } from './folder.ts'
import { type Snapshot, snapshotHash } from './format.ts'

/**
 * Chunk files that are read at the same time. The others wait their turn, so that peers cannot fill the memory or the
 * disk's queue.
 */
export const CHUNK_READS_MAX = 2

/** A snapshot of the folder, with the hash that names it. */
export interface Offered extends Snapshot {
  readonly hash: Uint8Array
}

/** What peers may ask of a folder of snapshots. Other threads and processes add snapshots to it and remove them. */
export interface OfferedSnapshots {
  /** The whole snapshots, the newest first. Their metadata is read once; each call only looks which ones are there. */
  list(): readonly Offered[]
  /**
   * The bytes of a chunk; undefined when the snapshot has no such chunk, or has it no more. Never blocks the thread.
   */
  readChunk(height: number, index: number): Promise<Uint8Array | undefined>
}

/** Reads the snapshots in `folder` for peers. Both calls throw, or reject, only for what the disk does. */
export function openOffered(folder: string): OfferedSnapshots {
  const known = new Map<number, Offered>() // a snapshot never changes: equal height and format, equal bytes
  let reading: Promise<unknown>[] = []

  const read = (height: number): Offered | undefined => {
    const snapshot = readSnapshot(snapshotPath(folder, height))
    return snapshot === undefined ? undefined : { ...snapshot, hash: snapshotHash(snapshot.metadataBytes) }
  }
  const list = (): readonly Offered[] => {
    const heights = newestHeights(folder)
    for (const height of known.keys()) if (!heights.includes(height)) known.delete(height)
    return heights.flatMap((height) => {
      const found = known.get(height) ?? read(height)
      if (found === undefined) return []
      known.set(height, found)
      return found
    })
  }
  const readWhole = async (path: string): Promise<Uint8Array | undefined> => {
    while (reading.length >= CHUNK_READS_MAX) await Promise.race(reading)
    const bytes = readFile(path)
    const ended = bytes.then(
      () => undefined,
      () => undefined,
    )
    reading.push(ended)
    void ended.then(() => {
      reading = reading.filter((one) => one !== ended)
    })
    try {
      return await bytes
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined
      throw error
    }
  }
  return {
    list,
    readChunk: async (height, index) => {
      const chunks = list().find(({ metadata }) => metadata.height === height)?.metadata.chunkHashes.length ?? 0
      return index < chunks ? readWhole(join(snapshotPath(folder, height), chunkFile(index))) : undefined
    },
  }
}
