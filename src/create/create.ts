#!/usr/bin/env node
/** `npm create @svcd NAME`: writes the template, which is examples/names, into a new folder. The program of @svcd/create. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The package, which holds this file, its package.json and the folder `template`. */
const own = import.meta.dirname
const template = join(own, 'template')

const fail = (message: string): never => {
  process.stderr.write(`create: ${message}\n`)
  process.exit(2)
}

const read = (path: string): string => readFileSync(path, 'utf8')

async function askName(): Promise<string> {
  if (!process.stdin.isTTY) return fail('expected a name: npm create @svcd my-chain')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl-C and Ctrl-D close it.
  const stop = (): never => process.exit(130)
  terminal.once('close', stop)
  const name = await terminal.question('The name of the chain: ')
  terminal.off('close', stop).close()
  return name.trim()
}

/** Asks for our packages in the version of this one: they are published together. */
function dependenciesAt(version: string, of: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(of).map(([name, given]) => [name, name.startsWith('@svcd/') ? `^${version}` : given]),
  )
}

/** The text of a file of the template for a chain of this name. */
function textOf(file: string, name: string): string {
  const text = read(join(template, file))
  if (file === 'README.md') return text.replace(/^# .*/, `# ${name}`)
  if (file !== 'package.json') return text
  const { version } = JSON.parse(read(join(own, 'package.json'))) as Manifest
  const manifest = JSON.parse(text) as Manifest
  const dependencies = dependenciesAt(version, manifest.dependencies)
  const optionalDependencies = dependenciesAt(version, manifest.optionalDependencies)
  return `${JSON.stringify({ ...manifest, name, dependencies, optionalDependencies }, null, 2)}\n`
}

const name = process.argv[2] ?? (await askName())
// It is the folder, the package and the chain id, of which CometBFT takes at most 50 characters.
if (!/^[a-z][a-z0-9-]{0,49}$/.test(name))
  fail(`a name has up to 50 lower-case letters, digits and -, a letter first, got ${JSON.stringify(name)}`)
const isEmptyFolder = (path: string): boolean => statSync(path).isDirectory() && readdirSync(path).length === 0
if (existsSync(name) && !isEmptyFolder(name)) fail(`${name} is there already, and is no empty folder`)
mkdirSync(name, { recursive: true })
for (const file of readdirSync(template)) writeFileSync(join(name, file), textOf(file, name))
// The home of a node holds its private key. npm leaves a file of this name out of a package, so it is not in the template.
writeFileSync(join(name, '.gitignore'), 'node_modules/\n/data*/\n*.key\n')
process.stdout.write(`${name} is written. Now:

  cd ${name}
  npm install
  npm test
  npm run dev
`)
