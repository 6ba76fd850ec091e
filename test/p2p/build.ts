import { join } from 'node:path'
import { buildGoProgram } from '../support/goProgram.ts'

/** The strangers that this folder has as Go programs. `chunks` is the folder's own. */
export type Stranger = 'chunks' | 'extremes' | 'forger'

/** Builds a program into `folder`. Returns its path. */
export function buildStranger(name: Stranger, folder: string): string {
  const path = join(folder, name)
  buildGoProgram(import.meta.dirname, path, name === 'chunks' ? '.' : `./${name}`)
  return path
}
