import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { ensureFolder } from '../../base/folder.ts'
import {
  CHUNK_BYTES_MAX,
  decodeMetadata,
  METADATA_BYTES_MAX,
  type Snapshot,
  SNAPSHOT_FORMAT,
  snapshotHash,
} from './format.ts'

/** The start of a snapshot's folder name until it is whole, and again while it is removed; its height follows. */
export const UNFINISHED = 'tmp-'

/** The most snapshots that are listed, the newest ones: CometBFT offers no more to a peer. */
export const SNAPSHOTS_LISTED_MAX = 10

/** The name of the metadata file within a snapshot's folder. */
export const METADATA_FILE = 'metadata'

/**
 * The name of the file of one chunk within a snapshot's folder.
 *
 * @example
 * chunkFile(3) // '000003.chunk'
 */
export const chunkFile = (index: number): string => `${String(index).padStart(6, '0')}.chunk`

const nameOf = (height: number): string => `${height}-${SNAPSHOT_FORMAT}`

/**
 * The folder of the snapshot of a height.
 *
 * @example
 * snapshotPath('snapshots', 1000) // 'snapshots/1000-1'
 */
export const snapshotPath = (folder: string, height: number): string => join(folder, nameOf(height))

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])

const heightsLike = (folder: string, pattern: RegExp): readonly number[] =>
  namesIn(folder)
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a)

const WHOLE = new RegExp(`^([1-9]\\d{0,15})-${SNAPSHOT_FORMAT}$`)
const BEGUN = new RegExp(`^${UNFINISHED}([1-9]\\d{0,15})-`)
const ANY = new RegExp(`^(?:${UNFINISHED})?([1-9]\\d{0,15})-`)

/** Takes a file that is not there as undefined: another process removes old snapshots at any moment. */
function undefinedIfGone(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== 'ENOENT') throw error
}

/** Reads a file; undefined when it is not there or longer than `bytesMax`. */
function readIfThere(path: string, bytesMax: number): Uint8Array | undefined {
  try {
    return statSync(path).size > bytesMax ? undefined : readFileSync(path)
  } catch (error) {
    return undefinedIfGone(error)
  }
}

/**
 * Reads the metadata of the snapshot in `path`; undefined when there is none. Its chunks are not read.
 *
 * @example
 * const records = readSnapshot(snapshotPath('snapshots', 1000))?.metadata.records
 */
export function readSnapshot(path: string): Snapshot | undefined {
  const metadataBytes = readIfThere(join(path, METADATA_FILE), METADATA_BYTES_MAX)
  const metadata = metadataBytes === undefined ? undefined : decodeMetadata(metadataBytes)
  return metadataBytes === undefined || metadata === undefined ? undefined : { metadata, metadataBytes }
}

/**
 * The heights of the snapshots in a folder, the newest first, at most SNAPSHOTS_LISTED_MAX.
 *
 * @example
 * const [newest] = newestHeights('snapshots')
 */
export const newestHeights = (folder: string): readonly number[] =>
  heightsLike(folder, WHOLE).slice(0, SNAPSHOTS_LISTED_MAX)

/**
 * The whole snapshots of a folder, the newest first, at most SNAPSHOTS_LISTED_MAX.
 *
 * @example
 * for (const { metadata } of listSnapshots('snapshots')) console.log(metadata.height, metadata.bytes)
 */
export const listSnapshots = (folder: string): readonly Snapshot[] =>
  newestHeights(folder).flatMap((height) => readSnapshot(snapshotPath(folder, height)) ?? [])

/**
 * Reads one chunk file in a snapshot's folder, whatever it holds; undefined when there is none.
 *
 * @example
 * const chunk = readChunk(snapshotPath('snapshots', 1000), 0)
 */
export const readChunk = (path: string, index: number): Uint8Array | undefined =>
  readIfThere(join(path, chunkFile(index)), CHUNK_BYTES_MAX)

/**
 * The lowest height that has a snapshot or is getting one; undefined when there is none. A node needs the blocks from
 * there on, for peers that restore it.
 *
 * @example
 * const retainHeight = oldestSnapshot('snapshots') ?? 0
 */
export const oldestSnapshot = (folder: string): number | undefined => heightsLike(folder, ANY).at(-1)

/**
 * Removes what has this name in the folder, in one step: a process that is still writing it fails, and never completes
 * what has lost a part.
 */
function removeNamed(folder: string, name: string): void {
  const path = join(folder, `${UNFINISHED}${ANY.exec(name)?.[1]}-old`)
  // A process that was killed here may have left it.
  rmSync(path, { recursive: true, force: true })
  try {
    renameSync(join(folder, name), path)
  } catch (error) {
    return undefinedIfGone(error)
  }
  rmSync(path, { recursive: true, force: true })
}

/** Removes the snapshot of a height. A peer that is loading it finds its chunks missing and takes another one. */
export const removeSnapshot = (folder: string, height: number): void => removeNamed(folder, nameOf(height))

/**
 * Removes all but the `keep` newest snapshots, and what was begun of older ones: a process that was killed may have left
 * it, and a node keeps its blocks from there on.
 *
 * @example
 * keepNewest('snapshots', 2) // a peer may still be loading the second newest
 */
export function keepNewest(folder: string, keep: number): void {
  const heights = heightsLike(folder, WHOLE)
  for (const height of heights.slice(keep)) removeSnapshot(folder, height)
  const oldest = heights[keep - 1] ?? 0
  for (const name of namesIn(folder)) if (Number(BEGUN.exec(name)?.[1]) < oldest) removeNamed(folder, name)
}

/**
 * Creates the folder, and removes what a killed process left in it. A snapshot that another process is writing there goes
 * too: that process then throws ENOENT and may write it again.
 *
 * @example
 * const store = openSqliteStore({ path: 'state.db', tables: [balances] })
 * tidySnapshots('snapshots')
 */
export function tidySnapshots(folder: string): void {
  ensureFolder(folder)
  for (const name of namesIn(folder)) if (name.startsWith(UNFINISHED)) removeNamed(folder, name)
}

/** How many chunk files are read at the same time. The others wait, so that peers cannot fill the memory or the disk's queue. */
export const CHUNK_READS_MAX = 2

/** A snapshot of the folder, with the hash that identifies it. */
export interface Offered extends Snapshot {
  readonly hash: Uint8Array
}

/**
 * Opens the snapshots in `folder` for peers. Other threads and processes add snapshots to it and remove them. Both calls
 * throw, or reject, only for failures of the disk.
 */
export function openOffered(folder: string) {
  const known = new Map<number, Offered>() // a snapshot never changes: equal height and format, equal bytes
  const reading = new Set<Promise<unknown>>()

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
    while (reading.size >= CHUNK_READS_MAX) await Promise.race(reading).catch(() => undefined)
    const bytes = readFile(path).finally(() => reading.delete(bytes))
    reading.add(bytes)
    return bytes.catch(undefinedIfGone)
  }
  return {
    /** The whole snapshots, the newest first. Metadata is read once; each call only looks which snapshots are there. */
    list,
    /** Reads a chunk without blocking the thread; undefined when the snapshot has no such chunk, or no longer has it. */
    readChunk: async (height: number, index: number): Promise<Uint8Array | undefined> => {
      const chunks = list().find(({ metadata }) => metadata.height === height)?.metadata.chunkHashes.length ?? 0
      return index < chunks ? readWhole(join(snapshotPath(folder, height), chunkFile(index))) : undefined
    },
  }
}
