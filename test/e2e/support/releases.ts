import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const checkout = join(import.meta.dirname, '../../..')

/** A line of a file of the sources, and what stands there in another release. */
export type SourceChange = readonly [file: string, from: string, to: string]

/**
 * Copies what runs of this checkout to `folder`, as a release of its own. Throws when a change does not fit exactly one
 * place.
 */
export function makeRelease(folder: string, changes: readonly SourceChange[] = []): void {
  mkdirSync(folder, { recursive: true })
  for (const name of ['src', 'cometbft-config', 'package.json'])
    cpSync(join(checkout, name), join(folder, name), { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, from, to] of changes) {
    const path = join(folder, file)
    const parts = readFileSync(path, 'utf8').split(from)
    if (parts.length !== 2) throw new Error(`${file}: expected one ${JSON.stringify(from)}, found ${parts.length - 1}`)
    writeFileSync(path, parts.join(to))
  }
}

/** Replaces the release that is installed in `folder`, as a package manager does. */
export function installRelease(release: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  cpSync(release, folder, { recursive: true, verbatimSymlinks: true })
}
