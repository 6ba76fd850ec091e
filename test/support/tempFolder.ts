import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary folder. `name`: what its path begins with, for whoever finds one left over. */
export interface TempFolder {
  readonly path: string
  readonly remove: () => void
}

/** Makes a temporary folder. */
export function tempFolder(name: string): TempFolder {
  const path = mkdtempSync(join(tmpdir(), `svcd-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}
