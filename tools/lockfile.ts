/**
 * Adds to the lock files what npm left out. Run it after every change of dependencies: `node tools/lockfile.ts`.
 * test/tidy/lockfile.test.ts keeps it so.
 *
 * - The optional packages of other platforms. A registry that does not carry a package makes npm drop its entry, and
 *   then `npm ci` stops everywhere with "Missing: … from lock file".
 * - Where each package is fetched (`resolved`). Without it npm first asks for the list of all versions of each package:
 *   555 requests and 66 MB more for a first install. A registry of one's own still works, since npm puts its address in
 *   place of the public one.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockEntry {
  name?: string
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  peer?: boolean
  hasInstallScript?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

/** The part of package-lock.json (version 3) that matters here. */
export interface Lockfile {
  packages: Record<string, LockEntry>
}

/** The lock files of the project, relative to the checkout. */
export const LOCKFILES: readonly string[] = [
  'package-lock.json',
  'test/openrpc/package-lock.json',
  'test/packages/package-lock.json',
  'tools/docs/package-lock.json',
]

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']
const LIBRARIES: Readonly<Record<string, string>> = { gnu: 'glibc', glibc: 'glibc', musl: 'musl' }

/** Which machines a package is for, by its name: `@swc/core-linux-arm64-musl`. Empty when the name says nothing. */
export function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> {
  const parts = name.split(/[/-]/)
  const os = parts.filter((part) => SYSTEMS.includes(part))
  const cpu = parts.filter((part) => PROCESSORS.includes(part))
  const libc = parts.flatMap((part) => LIBRARIES[part] ?? [])
  return { ...(cpu.length > 0 && { cpu }), ...(libc.length > 0 && { libc }), ...(os.length > 0 && { os }) }
}

/**
 * Where Node would find `name` from the package at `from`, or undefined: the nearest node_modules above that has it.
 */
function find(packages: Lockfile['packages'], from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (packages[path] !== undefined) return path
    if (at === '') return undefined
  }
}

/** Every optional dependency that has no entry, with the package that asks for it. */
export function missingOptionals(lock: Lockfile): { from: string; name: string; version: string }[] {
  return Object.entries(lock.packages).flatMap(([from, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => find(lock.packages, from, name) === undefined)
      .map(([name, version]) => ({ from, name, version })),
  )
}

/** Where the public registry has the package of an entry. */
export function resolvedOf(
  folder: string,
  { name = folder.replace(/^.*node_modules\//, ''), version }: LockEntry,
): string {
  return `https://registry.npmjs.org/${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`
}

/**
 * The same lock file with an entry for every optional dependency, and `resolved` in every entry, in npm's order. The new
 * entries carry no `integrity`: what the registry here does not have cannot be hashed. Throws on a version range and on
 * a name without a platform.
 */
export function completed(lock: Lockfile): Lockfile {
  const packages = { ...lock.packages }
  for (const { from, name, version } of missingOptionals(lock)) {
    const platform = platformOf(name)
    if (!/^\d+\.\d+\.\d+$/.test(version))
      throw new Error(`${from} asks for ${name} ${version}: an exact version is needed`)
    if (platform.cpu === undefined)
      throw new Error(`${from} asks for ${name}: its name tells no platform, add it by hand`)
    const parent = lock.packages[from] as LockEntry
    packages[`node_modules/${name}`] = {
      version,
      ...(platform.cpu && { cpu: platform.cpu }),
      ...(parent.dev && { dev: true }),
      ...(platform.libc && { libc: platform.libc }),
      ...(parent.license !== undefined && { license: parent.license }),
      optional: true,
      ...(platform.os && { os: platform.os }),
    }
  }
  for (const [folder, entry] of Object.entries(packages)) {
    const { name, version, ...rest } = entry
    if (folder === '') continue
    packages[folder] = {
      ...(name && { name }),
      ...(version && { version }),
      resolved: resolvedOf(folder, entry),
      ...rest,
    }
  }
  // npm sorts with localeCompare in English; any other order would be rewritten by its next save.
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(sorted) }
}

if (import.meta.main) {
  for (const name of LOCKFILES) {
    const path = join(import.meta.dirname, '..', name)
    const lock = JSON.parse(readFileSync(path, 'utf8')) as Lockfile
    writeFileSync(path, `${JSON.stringify(completed(lock), null, 2)}\n`)
    process.stdout.write(`${name}: ${missingOptionals(lock).length} optional packages added\n`)
  }
}
