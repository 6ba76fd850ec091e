import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** A folder, or a file in it, cannot be made. The message names it, the reason, and what to do. */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

function ensureOne(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  const parent = dirname(path)
  if (parent !== path) ensureOne(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/**
 * Creates a folder and all missing folders above it, with `mode` less the umask. Throws a FolderError. It does without
 * mkdir's `recursive`, because Node retries for ever on a file system that refuses a folder with ENOENT, as /proc does.
 */
export function ensureFolder(path: string, mode = 0o777): void {
  try {
    ensureOne(path, mode)
  } catch (error) {
    throw new FolderError(`${path}: the folder cannot be made (${(error as Error).message}): name another place`, {
      cause: error,
    })
  }
}
