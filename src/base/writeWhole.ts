import { renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ensureFolder } from './folder.ts'

/**
 * Writes a file in one step, so that neither a crash nor a full disk leaves half of it: what was there stays until all of
 * the new text is on disk. Only the owner can read it. Creates its folder. Throws a FolderError, or what the system says.
 */
export function writeWhole(path: string, text: string): void {
  ensureFolder(dirname(path), 0o700)
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}
