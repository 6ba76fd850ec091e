/** The Node programs that replicas run on. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The newest major that svcd was tried on. */
const NEWEST = '26.10.0'

const root = join(import.meta.dirname, '../..')
const cache = join(root, '.cache/node')

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string }
}

/** The oldest version that package.json allows, the one that the project brings, and the newest. */
export const VERSIONS: readonly string[] = [`${engines.node.replace('>=', '')}.0`, process.versions.node, NEWEST]

/** The npm package that holds Node's program for this machine. */
function packageName(): string {
  const { platform, arch } = process
  // The short name of this one belongs to somebody else.
  return `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`
}

const programOf = (folder: string): string => join(folder, 'node_modules', packageName(), 'bin/node')

/** The program of a version; undefined when it is not on this machine. */
export function findNode(version: string): string | undefined {
  if (version === process.versions.node) return process.execPath
  const program = programOf(join(cache, version))
  return existsSync(program) ? program : undefined
}

/** The program of a version. Downloads about 50 MB from npm into .cache/node when it is not there. Throws when npm fails. */
export function fetchNode(version: string): string {
  const found = findNode(version)
  if (found !== undefined) return found
  process.stdout.write(`downloading Node ${version} …\n`)
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, '.download-'))
  try {
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder]
    execFileSync('npm', ['install', ...flags, `${packageName()}@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // As for the project's own packages, npm runs on the system's Node (Makefile).
      env: { ...process.env, PATH: process.env['SYSTEM_PATH'] ?? process.env['PATH'], NODE_OPTIONS: '' },
    })
    renameSync(folder, join(cache, version))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return programOf(join(cache, version))
}
