import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../packages')
const modules = join(folder, 'node_modules')

/** The newest Node 22, where test/packages has it for this machine. */
const NODE_22 = join(modules, `node-${process.platform}-${process.arch}/bin/node`)

interface Wanted {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const versionOf = (folder: string, name: string): string | undefined => {
  const path = join(folder, 'node_modules', name, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version : undefined
}

/** Runs npm to its end in `folder`; returns what it printed. Throws with all it said when it fails. */
export function npm(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, NODE_OPTIONS: '' },
    maxBuffer: 2 ** 26,
  })
}

/**
 * Installs the packages of a folder unless they are there; of the optional ones those that `isMine` wants. Without a
 * network this throws with npm's own error, until it has succeeded once.
 */
export function installPackages(folder: string, isMine: (name: string) => boolean = () => false): void {
  const { dependencies, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Wanted
  const mine = Object.entries(optionalDependencies).filter(([name]) => isMine(name))
  if (![...Object.entries(dependencies), ...mine].every(([name, version]) => versionOf(folder, name) === version))
    npm(folder, ['install', '--no-save', '--ignore-scripts', '--prefer-offline'])
}

/**
 * Installs the tools of test/packages unless they are there: TypeScript 5.9 and Node 22. They are no devDependencies,
 * because nobody but this test needs them.
 */
export const installUserTools = (): void => installPackages(folder, (name) => NODE_22.includes(`/${name}/`))

/** The Node that runs the tests, and Node 22 where there is one for this machine. Call `installUserTools` before. */
export const userNodes = (): readonly string[] => [process.execPath, ...(existsSync(NODE_22) ? [NODE_22] : [])]

export const TYPESCRIPT_5 = join(modules, 'typescript/lib/tsc.js')

/** An environment in which npm finds itself, Node and a shell: no compiler, no Python, no make. It is made in `folder`. */
export function withoutCompiler(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin')
  if (existsSync(bin)) return { ...process.env, PATH: bin }
  mkdirSync(bin)
  for (const name of ['node', 'npm', 'npx', 'sh']) {
    const path = execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    symlinkSync(name === 'node' ? process.execPath : path, join(bin, name))
  }
  return { ...process.env, PATH: bin }
}
