import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/folder.ts'
import { CHUNK_BYTES_MAX, decodeMetadata, METADATA_BYTES_MAX, type Snapshot, SNAPSHOT_FORMAT } from './format.ts'

/** What a snapshot's folder starts with until it is whole, and again when it is on its way out; its height follows. */
export const UNFINISHED = 'tmp-'

/** Most snapshots that are listed, the newest ones: a peer asks CometBFT for no more. */
export const SNAPSHOTS_LISTED_MAX = 10

/** Name of the file of metadata within a snapshot's folder. */
export const METADATA_FILE = 'metadata'

/** Name of the file of one chunk within a snapshot's folder. */
export const chunkFile = (index: number): string => `${String(index).padStart(6, '0')}.chunk`

/** Folder of the snapshot of a height. */
export const snapshotPath = (folder: string, height: number): string => join(folder, `${height}-${SNAPSHOT_FORMAT}`)

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])

const heightsLike = (folder: string, pattern: RegExp): readonly number[] =>
  namesIn(folder)
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a)

const WHOLE = new RegExp(`^([1-9]\\d{0,15})-${SNAPSHOT_FORMAT}$`)
const ANY = new RegExp(`^(?:${UNFINISHED})?([1-9]\\d{0,15})-`)

/**
 * A file's bytes; undefined when it is not there or longer than `bytesMax`. It may go at any moment: another process
 * removes old ones.
 */
function readFile(path: string, bytesMax: number): Uint8Array | undefined {
  try {
    return statSync(path).size > bytesMax ? undefined : readFileSync(path)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The snapshot whose files are in `path`, as its metadata tells of it; undefined when there is none. Its chunks are not
 * looked at.
 */
export function readSnapshot(path: string): Snapshot | undefined {
  const metadataBytes = readFile(join(path, METADATA_FILE), METADATA_BYTES_MAX)
  const metadata = metadataBytes === undefined ? undefined : decodeMetadata(metadataBytes)
  return metadataBytes === undefined || metadata === undefined ? undefined : { metadata, metadataBytes }
}

/** The heights of the snapshots in a folder, the newest first, at most SNAPSHOTS_LISTED_MAX. */
export const newestHeights = (folder: string): readonly number[] =>
  heightsLike(folder, WHOLE).slice(0, SNAPSHOTS_LISTED_MAX)

/** The whole snapshots of a folder, the newest first, at most SNAPSHOTS_LISTED_MAX. */
export const listSnapshots = (folder: string): readonly Snapshot[] =>
  newestHeights(folder).flatMap((height) => readSnapshot(snapshotPath(folder, height)) ?? [])

/** The bytes of one chunk file in a snapshot's folder, whatever they are; undefined when there is none. */
export const readChunk = (path: string, index: number): Uint8Array | undefined =>
  readFile(join(path, chunkFile(index)), CHUNK_BYTES_MAX)

/** The lowest height that has a snapshot, or is getting one; undefined when there is none. */
export const oldestSnapshot = (folder: string): number | undefined => heightsLike(folder, ANY).at(-1)

/** Removes the snapshot of a height at once. A peer that loads it finds its chunks missing, and takes another one. */
export function removeSnapshot(folder: string, height: number): void {
  const path = join(folder, `${UNFINISHED}${height}-old`)
  renameSync(snapshotPath(folder, height), path)
  rmSync(path, { recursive: true, force: true })
}

/** Removes all but the `keep` newest snapshots. */
export function keepNewest(folder: string, keep: number): void {
  for (const height of heightsLike(folder, WHOLE).slice(keep)) removeSnapshot(folder, height)
}

/**
 * Makes the folder, without what a process left in it that was killed at work. Only for who writes the state: it is
 * alone.
 */
export function tidySnapshots(folder: string): void {
  makeFolder(folder)
  for (const name of namesIn(folder))
    if (name.startsWith(UNFINISHED)) rmSync(join(folder, name), { recursive: true, force: true })
}
