import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** What an entry of dist needs. Paths are relative to dist, with / between their parts. */
export interface Reached {
  /** From where a file stands in the package to the file of dist that is copied there. */
  readonly files: ReadonlyMap<string, string>
  /** The packages that the files import. */
  readonly packages: ReadonlySet<string>
}

// tsc writes each import and export in one line. Those of examples stand in comments, behind an asterisk.
const IMPORTS =
  /^(?:import|export)\b[^'"\n]* from ['"]([^'"\n]+)['"]|^import ['"]([^'"\n]+)['"]|\bimport\(['"]([^'"\n]+)['"]\)/gm

/** `@noble/hashes` of `@noble/hashes/sha2.js`. */
const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

/**
 * Follows the imports of `entries`, of code and of types, through dist. A file that `replaced` names is read and copied
 * from the other one, as bundlers read the `browser` field. Throws when an import leads nowhere.
 */
export function reach(
  dist: string,
  entries: readonly string[],
  replaced: Readonly<Record<string, string>> = {},
): Reached {
  const files = new Map<string, string>()
  const packages = new Set<string>()
  const follow = (path: string): void => {
    if (files.has(path)) return
    const source = replaced[path] ?? path
    files.set(path, source)
    for (const [, ...found] of readFileSync(join(dist, source), 'utf8').matchAll(IMPORTS)) {
      const specifier = found.find((one) => one !== undefined) ?? ''
      if (!specifier.startsWith('.')) {
        if (!specifier.startsWith('node:')) packages.add(packageOf(specifier))
        continue
      }
      const target = posix.join(posix.dirname(path), specifier)
      const next = path.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target
      if (!existsSync(join(dist, next))) throw new Error(`pack: ${source} imports ${specifier}, which is not in dist`)
      follow(next)
    }
  }
  for (const entry of entries) follow(entry)
  return { files, packages }
}
