import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** A folder that cannot be made. The message names it, the reason, and what to do. */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

function makeOne(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  const parent = dirname(path)
  if (parent !== path) makeOne(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/**
 * The folder is there, with all above it; those that were missing have `mode`, less the umask. Throws a FolderError.
 * Why not mkdir with `recursive`: Node tries for ever where a file system refuses a folder with ENOENT, as /proc does.
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    makeOne(path, mode)
  } catch (error) {
    throw new FolderError(`${path}: the folder cannot be made (${(error as Error).message}): name another place`, {
      cause: error,
    })
  }
}
