import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** The strangers that this folder has as Go programs. `chunks` is the folder's own. */
export type Stranger = 'chunks' | 'extremes' | 'forger'

/** Builds a program into `folder` with Go, whose cache makes it fast from the second time on. Returns its path. */
export function buildStranger(name: Stranger, folder: string): string {
  const path = join(folder, name)
  execFileSync('go', ['build', '-o', path, name === 'chunks' ? '.' : `./${name}`], { cwd: import.meta.dirname })
  return path
}
