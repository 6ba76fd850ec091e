import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LOCKFILES, type Lockfile } from '../lockfile.ts'

/** A package that would run a program when it is installed. */
interface InstallScript {
  readonly runs: string
  /** What becomes of it here. */
  readonly why: string
}

/**
 * Every package that brings an install script. Nothing runs them but the one of `node`: all installs are with
 * `--ignore-scripts` (tools/install.js).
 */
export const INSTALL_SCRIPTS: Readonly<Record<string, InstallScript>> = {
  node: {
    runs: 'node installArchSpecificPackage',
    why: 'runs: it installs the package that holds Node 24 for the machine, in the same exact version',
  },
  '@parcel/watcher': {
    runs: 'node scripts/build-from-source.js',
    why: 'not run: it compiles only when it is asked to, and the tests need no watcher',
  },
  '@swc/core': {
    runs: 'node postinstall.js',
    why: 'not run: it fetches a slower program where there is none for the machine',
  },
  'better-sqlite3': {
    runs: 'binding.gyp',
    why: 'not run: npm would compile it because of that file; its program for each system is in the package',
  },
  esbuild: {
    runs: 'node install.js',
    why: 'not run: it looks again whether the program for the machine is there, and starts it without Node',
  },
  fsevents: {
    runs: 'binding.gyp',
    why: 'not run: for macOS only, where Vite and Rollup work without it',
  },
}

/** What npm would run to install the package in a folder, if anything. */
function runs(folder: string): string | undefined {
  const { scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly scripts?: Readonly<Record<string, string>>
  }
  const script = scripts['preinstall'] ?? scripts['install'] ?? scripts['postinstall']
  // Without a script npm compiles by such a file. `gypfile: false` would forbid it, and is lost in a lock file.
  return script ?? (existsSync(join(folder, 'binding.gyp')) ? 'binding.gyp' : undefined)
}

/**
 * Every package that is installed, or that a lock file says of, and runs something: its name, and what. The value is
 * undefined for one that is not installed on this machine.
 */
export function installScripts(root: string): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  for (const file of LOCKFILES) {
    const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as Lockfile
    for (const [path, { hasInstallScript }] of Object.entries(packages)) {
      const folder = join(root, dirname(file), path)
      const isInstalled = path !== '' && existsSync(join(folder, 'package.json'))
      const script = isInstalled ? runs(folder) : undefined
      if (script !== undefined || hasInstallScript) found.set(path.replace(/^.*node_modules\//, ''), script)
    }
  }
  return found
}
