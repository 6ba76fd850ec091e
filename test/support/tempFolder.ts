import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TempFolder = ReturnType<typeof tempFolder>

/**
 * Makes a temporary folder, within another one if that is given. `name`: what its path begins with, for whoever finds
 * one left over.
 */
export function tempFolder(name: string, within = tmpdir()) {
  const path = mkdtempSync(join(within, `svcd-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Where files are that no power failure has to spare: in memory, if the system has a folder there. */
export const memoryFolder = (): string => ['/dev/shm'].find((path) => existsSync(path)) ?? tmpdir()
