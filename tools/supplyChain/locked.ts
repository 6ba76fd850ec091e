import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { LOCKFILES, type Lockfile } from '../lockfile.ts'

/** One exact version that the project uses. */
export interface Locked {
  readonly ecosystem: 'npm' | 'Go'
  readonly name: string
  readonly version: string
  /** The file that says so, relative to the checkout. */
  readonly file: string
  /** True for what users get: it is in the packages, the containers or the web page. */
  readonly isShipped: boolean
  /** The SPDX expression of its licence; unknown for Go modules. */
  readonly license?: string | undefined
}

/** The libraries that are compiled into the web page. To npm they are tools, because nothing imports them at run time. */
export const PAGE_LIBRARIES: readonly string[] = ['@noble/curves', 'preact', 'uplot', 'uqr']

/** Licences of packages whose package.json has none, or writes it in another way than SPDX: those of their repositories. */
const LICENSES: Readonly<Record<string, string>> = {
  '@open-rpc/spec-types': 'Apache-2.0',
  '@open-rpc/typings': 'Apache-2.0',
}

/** Folders that hold no file of the project. */
const FOREIGN = ['**/node_modules/**', '.cache/**', 'dist/**']

/** The project's own files that match a pattern, relative to `root` and sorted. */
export const ownFiles = (root: string, pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: FOREIGN }).sort()

const nameOf = (folder: string): string => folder.replace(/^.*node_modules\//, '')

// Tools have copies of their own of some of these libraries, in folders within theirs.
const isOfPage = (folder: string): boolean => PAGE_LIBRARIES.some((name) => folder === `node_modules/${name}`)

function npmPackages(root: string, file: string): Locked[] {
  const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as Lockfile
  const isRoot = file === 'package-lock.json'
  return Object.entries(packages)
    .filter(([folder]) => folder !== '')
    .map(([folder, { name = nameOf(folder), version = '', license, dev, devOptional, optional }]) => ({
      ecosystem: 'npm',
      name,
      version,
      file,
      isShipped: isRoot && (!(dev || devOptional || optional) || isOfPage(folder)),
      license: LICENSES[name] ?? license,
    }))
}

/** The modules that a go.mod requires, with their versions as they stand there. */
export const goRequirements = (text: string): readonly (readonly [name: string, version: string])[] =>
  [...text.matchAll(/^(?:require\s+|\t)([^\s()]+) (v\S+)/gm)].map(([, name = '', version = '']) => [name, version])

function goModules(root: string, file: string): Locked[] {
  return goRequirements(readFileSync(join(root, file), 'utf8')).map(([name, version]) => ({
    ecosystem: 'Go',
    name,
    version: version.slice(1),
    file,
    isShipped: false,
  }))
}

/** Everything that the project uses in a version of its own choice: lock files, Go modules, and CometBFT. */
export function lockedPackages(root: string): readonly Locked[] {
  return [
    ...LOCKFILES.filter((file) => existsSync(join(root, file))).flatMap((file) => npmPackages(root, file)),
    ...ownFiles(root, '**/go.mod').flatMap((file) => goModules(root, file)),
    {
      ecosystem: 'Go',
      name: 'github.com/cometbft/cometbft',
      version: COMETBFT_VERSION,
      file: 'src/comet/find.ts',
      isShipped: true,
    },
  ]
}
