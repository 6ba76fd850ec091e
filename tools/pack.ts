/**
 * Packs what is published: `npm run pack`. Builds dist and writes package folders and their tarballs into
 * .cache/packages: `svcd` with the libraries that it runs on; what `svcd/client`, `svcd/abci` and `svcd/store` reach of
 * dist as `@svcd/client`, `@svcd/abci` and `@svcd/store`; `@svcd/create` with examples/names; and CometBFT for this
 * machine. Version, engines, exports and the versions of libraries are those of package.json.
 *   --release   CometBFT for every kind of machine, by the release of Go that tools/packages/cometbft.json names. Each has
 *               to have the checksum that stands there
 *   --record    the same, and writes the checksums there
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { PLATFORMS, platformPackage, platformsHere } from '../src/base/cometbftPackage.ts'
import { writeCometBft } from './packages/cometbft.ts'
import { copyLibraries } from './packages/libraries.ts'
import { type Reached, reach } from './packages/reach.ts'
import { programArgs } from './testing/programArgs.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const out = join(root, '.cache/packages')

interface Entry {
  readonly types: string
  readonly default: string
}
interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, Entry | string>>
  readonly browser: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, object>>
  readonly [member: string]: unknown
}

/** A part of svcd as a package of its own. `exports`: from its exports to those of svcd. */
interface Part {
  readonly name: string
  readonly description: string
  /** What people search for. */
  readonly keywords: readonly string[]
  readonly readme: string
  readonly exports: Readonly<Record<string, string>>
  /** Made of the files that `browser` swaps in, in Node too: it then has no native code. */
  readonly isForBrowsers?: boolean
}

const PARTS: readonly Part[] = [
  {
    name: '@svcd/client',
    description: 'web3.svc: the client of svcd, a staking and governance blockchain, for Node and browsers',
    keywords: ['svcd', 'web3', 'cometbft', 'staking', 'governance', 'client'],
    readme: 'src/client/README.md',
    exports: { '.': './client', './web3-plugin': './web3-plugin' },
    isForBrowsers: true,
  },
  {
    name: '@svcd/abci',
    description: 'An ABCI server for Node.js: applications for CometBFT (Tendermint) in TypeScript and JavaScript',
    keywords: ['abci', 'abci-server', 'cometbft', 'tendermint', 'blockchain', 'consensus', 'nodejs', 'typescript'],
    readme: 'src/abci/README.md',
    exports: { '.': './abci', './testing': './abci/testing', './node': './abci/node' },
  },
  {
    name: '@svcd/store',
    description:
      'The state of an ABCI application: SQLite tables under a Merkle root, with ICS-23 proofs and snapshots',
    keywords: ['abci', 'cometbft', 'tendermint', 'ics23', 'merkle', 'state', 'sqlite', 'blockchain', 'typescript'],
    readme: 'src/store/README.md',
    exports: { '.': './store' },
  },
]

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
const pathInDist = (path: string): string => path.replace(/^\.\/dist\//, '')
const pick = <T>(of: Readonly<Record<string, T>>, names: Iterable<string>): Record<string, T> =>
  Object.fromEntries([...names].sort().flatMap((name) => (Object.hasOwn(of, name) ? [[name, of[name] as T]] : [])))

/** Where the project is hosted: npm's provenance needs it, and a page of npm makes its links from it. */
const repository = (): object => {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = process.env
  return path === undefined ? {} : { repository: { type: 'git', url: `git+${server}/${path}.git` } }
}

const { values } = programArgs({
  options: { release: { type: 'boolean', default: false }, record: { type: 'boolean', default: false } },
})
const isRelease = values.release || values.record
/** The kinds of machine that CometBFT is packed for. */
const packed = isRelease ? PLATFORMS : platformsHere

const { scripts: _scripts, devDependencies: _development, files: _files, ...published } = manifest

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/**
 * Writes a README with its links as from the top of the repository, which is how a page of npm reads them, and puts the
 * pages of docs that it links to beside it.
 */
function writeReadme(folder: string, readme: string): void {
  const text = readFileSync(join(root, readme), 'utf8').replace(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, link: string) => {
    const [path = '', ...anchor] = posix.join(posix.dirname(readme), link).split('#')
    if (/^docs\/[^/]+\.md$/.test(path)) write(folder, path, readFileSync(join(root, path), 'utf8'))
    return `](${[path, ...anchor].join('#')})`
  })
  write(folder, 'README.md', text)
}

/** Where the files of this release are shown; undefined where the project is not hosted. */
const filesAt = (): string | undefined => {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = process.env
  return path === undefined ? undefined : `${server}/${path}/blob/v${manifest.version}`
}

/**
 * Points the links of a package's pages that lead to no file of it to the repository. Where none is known, their texts stay
 * without a link. A README that links to a README.md means the one of the repository.
 */
function mendLinks(folder: string): void {
  const base = filesAt()
  for (const page of globSync('{*,docs/*}.md', { cwd: folder })) {
    const text = readFileSync(join(folder, page), 'utf8')
    const mended = text.replace(
      /(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)/g,
      (link, mark: string, shown: string, to: string) => {
        const [path = '', anchor] = posix.join(posix.dirname(page), to).split('#')
        const isItself = page === 'README.md' && path === page
        if (existsSync(join(folder, path)) && !isItself) return link
        if (base === undefined) return shown
        return `${mark}[${shown}](${base}/${path}${mark === '!' ? '?raw=true' : ''}${anchor === undefined ? '' : `#${anchor}`})`
      },
    )
    write(folder, page, mended)
  }
}

/** Starts a package folder with what all of them have. */
function openFolder(name: string, readme: string): string {
  const folder = join(out, name)
  writeReadme(folder, readme)
  for (const file of ['CHANGELOG.md', 'LICENSE']) cpSync(join(root, file), join(folder, file))
  return folder
}

const writeManifest = (folder: string, members: object): void =>
  write(folder, 'package.json', `${JSON.stringify({ ...members, ...repository() }, null, 2)}\n`)

/** The files and packages behind some exports of svcd. */
function reachExports(names: readonly string[], replaced: Readonly<Record<string, string>> = {}): Reached {
  const entries = names.flatMap((name) => {
    const entry = manifest.exports[name]
    return entry === undefined || typeof entry === 'string' ? [] : [entry.types, entry.default]
  })
  return reach(dist, entries.map(pathInDist), replaced)
}

function writePart({ name, description, keywords, readme, exports, isForBrowsers = false }: Part): string {
  const folder = openFolder(name.replace('@svcd/', ''), readme)
  const swapped = isForBrowsers ? Object.entries(manifest.browser).map((pair) => pair.map(pathInDist)) : []
  const replaced = Object.fromEntries(swapped)
  const { files, packages } = reachExports(Object.values(exports), replaced)
  for (const [path, source] of files) cpSync(join(dist, source), join(folder, 'dist', path))
  const unknown = [...packages].filter((one) => !manifest.dependencies[one] && !manifest.peerDependencies[one])
  if (unknown.length > 0) throw new Error(`pack: ${name} imports ${unknown.join()}, which package.json does not name`)
  const peers = pick(manifest.peerDependencies, packages)
  const main = manifest.exports[exports['.'] as string] as Entry
  const others = Object.entries(exports).flatMap(([path, of]) =>
    path === '.' ? [] : [[path.slice(2), [(manifest.exports[of] as Entry).types]]],
  )
  writeManifest(folder, {
    ...pick(published, ['version', 'license', 'type', 'engines', 'sideEffects', 'publishConfig']),
    name,
    description,
    keywords,
    // For resolvers that read no exports, such as TypeScript's node10.
    main: main.default,
    types: main.types,
    ...(others.length > 0 && { typesVersions: { '*': Object.fromEntries(others) } }),
    exports: {
      ...Object.fromEntries(Object.entries(exports).map(([path, of]) => [path, manifest.exports[of]])),
      './package.json': './package.json',
    },
    dependencies: pick(manifest.dependencies, packages),
    ...(Object.keys(peers).length > 0 && {
      peerDependencies: peers,
      peerDependenciesMeta: pick(manifest.peerDependenciesMeta, packages),
    }),
  })
  return folder
}

/** The whole program. Its libraries come with it, so that every machine runs the versions that were tested. */
function writeProgram(): string {
  const folder = openFolder(manifest.name, 'README.md')
  const types = reachExports(Object.keys(manifest.exports)).files
  for (const path of globSync('**/*.*', { cwd: dist, exclude: ['create/**'] }))
    if (!path.endsWith('.d.ts') || types.has(path)) cpSync(join(dist, path), join(folder, 'dist', path))
  cpSync(join(root, 'cometbft-config'), join(folder, 'cometbft-config'), { recursive: true })
  copyLibraries(root, folder)
  writeManifest(folder, {
    ...published,
    bundleDependencies: Object.keys(manifest.dependencies),
    // npm installs the one that fits, and goes on without it where it cannot. One that nobody has packed would be missing
    // in lock files, which `npm ci` refuses.
    optionalDependencies: Object.fromEntries(packed.map((one) => [platformPackage(one), manifest.version])),
  })
  return folder
}

/** The program behind `npm create @svcd`, and the example that is its template. */
function writeCreate(): string {
  const folder = openFolder('create', 'src/create/README.md')
  cpSync(join(dist, 'create/create.js'), join(folder, 'create.js'))
  // By their kinds: whoever has tried the example has a lock file, keys and chains beside them.
  const example = join(root, 'examples/names')
  for (const file of globSync('{Dockerfile,package.json,*.{md,ts,yml}}', { cwd: example }))
    cpSync(join(example, file), join(folder, 'template', file))
  writeManifest(folder, {
    ...pick(published, ['version', 'license', 'type', 'publishConfig']),
    name: '@svcd/create',
    description: 'npm create @svcd: a blockchain of your own in TypeScript, on CometBFT, in ten files',
    keywords: ['create', 'template', 'abci', 'cometbft', 'tendermint', 'blockchain', 'typescript'],
    engines: { node: '>=22.18' },
    bin: { create: 'create.js' },
  })
  return folder
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`

rmSync(out, { recursive: true, force: true })
await import('./build.ts')
const common = { ...pick(published, ['version', 'publishConfig']), ...repository() }
const platforms = await writeCometBft(packed, out, common, {
  cache: join(root, '.cache/cometbft/packages'),
  isRelease,
  isRecording: values.record,
  onProgress: (line, isReplaced = false) => {
    if (!isReplaced) process.stderr.write(`${line}\n`)
  },
})
// The programs first: npm looks for them when it installs svcd.
const folders = [...platforms, writeProgram(), ...PARTS.map(writePart), writeCreate()]
for (const folder of folders) mendLinks(folder)
const report = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', out, ...folders], {
  encoding: 'utf8',
  env: { ...process.env, NODE_OPTIONS: '' },
  maxBuffer: 2 ** 26,
})
for (const { filename, size, unpackedSize } of JSON.parse(report) as {
  filename: string
  size: number
  unpackedSize: number
}[])
  process.stdout.write(
    `${join('.cache/packages', filename)}: ${megabytes(size)}, unpacked ${megabytes(unpackedSize)}\n`,
  )
