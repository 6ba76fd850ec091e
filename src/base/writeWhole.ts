import { randomUUID } from 'node:crypto'
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ensureFolder } from './folder.ts'

/**
 * Writes a file in one step: what was there stays until all of the new text is on disk. The text is written beside it,
 * and `put` moves it into place, by default over what is there. Throws what the system says, and then leaves nothing.
 */
export function writeInOneStep(path: string, text: string, mode?: number, put = renameSync): void {
  const beside = `${path}.${randomUUID()}.new`
  try {
    writeFileSync(beside, text, { mode, flag: 'wx', flush: true })
    // The umask can only have taken away more.
    if (mode !== undefined) chmodSync(beside, mode)
    put(beside, path)
  } finally {
    rmSync(beside, { force: true })
  }
}

/**
 * Writes a file of a home in one step, so that neither a crash nor a full disk leaves half of it. Only the owner can read
 * it. Creates its folder. What a crash leaves beside it has one name, so that the next write takes its place. Throws a
 * FolderError, or what the system says.
 */
export function writeWhole(path: string, text: string): void {
  ensureFolder(dirname(path), 0o700)
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}
