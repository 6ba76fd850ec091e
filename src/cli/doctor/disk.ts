import { existsSync, statfsSync } from 'node:fs'
import type { Finding } from './finding.ts'

const MIB = 1024 * 1024

/** Below this a disk counts as full, in bytes: SQLite's write-ahead log alone takes as much before it begins anew. */
const FULL_BYTES = 64 * MIB

/** Below this it is worth a word, in bytes. */
const LOW_BYTES = 1024 * MIB

/**
 * Bytes that are free for us on the disk of a folder; undefined when the folder is not there, or its file system does
 * not tell.
 */
function freeBytes(folder: string): number | undefined {
  if (!existsSync(folder)) return undefined
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}

/** The room that is left on the disk of a home; nothing when there is no home yet. */
export function examineDisk(home: string): readonly Finding[] {
  const free = freeBytes(home)
  if (free === undefined) return []
  const found = `${Math.floor(free / MIB)} MiB free where ${home} is`
  if (free < FULL_BYTES)
    return [{ check: 'disk', verdict: 'bad', found: `${found}: make room, then start the node again` }]
  return [{ check: 'disk', verdict: free < LOW_BYTES ? 'note' : 'ok', found }]
}
