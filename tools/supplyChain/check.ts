import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAdvisories, unexplained } from './advisories.ts'
import { floating, unlocked } from './floating.ts'
import { unhashed } from './hashes.ts'
import { unlicensed } from './licenses.ts'
import { lockedPackages, ownFiles } from './locked.ts'
import { INSTALL_SCRIPTS, installScripts } from './scripts.ts'

const NAMING = [
  '**/{package,package-lock}.json',
  '**/go.{mod,sum}',
  '{Dockerfile,docker-compose*.yml}',
  '.github/workflows/*.yml',
]

/** The files of a checkout that name versions: from their paths to their texts. */
export const filesThatName = (root: string): ReadonlyMap<string, string> =>
  new Map(
    NAMING.flatMap((pattern) => ownFiles(root, pattern)).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )

/** The packages whose install script nobody has looked at, or not this one. */
export const unknownScripts = (found: ReadonlyMap<string, string | undefined>): readonly string[] =>
  [...found]
    .filter(
      ([name, runs]) =>
        INSTALL_SCRIPTS[name] === undefined || (runs ?? INSTALL_SCRIPTS[name].runs) !== INSTALL_SCRIPTS[name].runs,
    )
    .map(([name, runs]) => `${name}: ${runs ?? 'an install script'}`)

/** What is wrong with what the project is made of, and how much of it there is. */
export function checkSupplyChain(root: string): { readonly packages: number; readonly problems: readonly string[] } {
  const locked = lockedPackages(root)
  const files = filesThatName(root)
  const problems = [
    ...floating(files).map((what) => `may become another version: ${what}`),
    ...unlocked(files).map((path) => `has no lock beside it: ${path}`),
    ...unhashed(files).map((what) => `has no hash: ${what}`),
    ...unknownScripts(installScripts(root)).map((what) => `runs when it is installed: ${what}`),
    ...unlicensed(locked).map((what) => `has a licence that nobody agreed to: ${what}`),
    ...unexplained(readAdvisories(root), locked),
  ]
  return { packages: locked.length, problems }
}
