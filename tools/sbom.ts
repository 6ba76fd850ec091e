/**
 * The bills of materials, in CycloneDX: `node tools/sbom.ts [FOLDER]` writes them into .cache/sbom, from the lock file
 * and without a network. `svcd.cdx.json` is what users get: the libraries in the packages and the container, those that
 * are compiled into the web page, and CometBFT. `development.cdx.json` is everything that package-lock.json names. Source
 * of the format: `npm sbom`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { COMETBFT_VERSION } from '../src/comet/find.ts'
import { lockedPackages } from './supplyChain/locked.ts'
import { programArgs } from './testing/programArgs.ts'

const root = join(import.meta.dirname, '..')

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly [member: string]: unknown
}

/** The part of a CycloneDX document that matters here. */
interface Bom {
  readonly metadata: { readonly component: Component; readonly [member: string]: unknown }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
  readonly [member: string]: unknown
}

function npmBom(): Bom {
  // An optional peer of a tool does not fit another tool, which npm would refuse to describe without that flag.
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']
  const text = execFileSync('npm', [...args, '--legacy-peer-deps', '--offline', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: '' },
  })
  const bom = JSON.parse(text) as Bom
  // npm takes the name of the folder.
  return { ...bom, metadata: { ...bom.metadata, component: { ...bom.metadata.component, name: 'svcd' } } }
}

const COMETBFT: Component = {
  'bom-ref': `github.com/cometbft/cometbft@v${COMETBFT_VERSION}`,
  type: 'application',
  name: 'github.com/cometbft/cometbft',
  version: `v${COMETBFT_VERSION}`,
  scope: 'required',
  purl: `pkg:golang/github.com/cometbft/cometbft@v${COMETBFT_VERSION}`,
  licenses: [{ license: { id: 'Apache-2.0' } }],
}

/** What users get of it, with CometBFT. */
function shippedOf(bom: Bom): Bom {
  const shipped = new Set(
    lockedPackages(root)
      .filter(({ ecosystem, isShipped }) => ecosystem === 'npm' && isShipped)
      .map(({ name, version }) => `${name}@${version}`),
  )
  const own = bom.metadata.component['bom-ref']
  return {
    ...bom,
    // npm counts a library of the page among the tools.
    components: [
      ...bom.components.filter((one) => shipped.has(one['bom-ref'])).map((one) => ({ ...one, properties: [] })),
      COMETBFT,
    ],
    dependencies: [
      ...bom.dependencies
        .filter(({ ref }) => ref === own || shipped.has(ref))
        .map(({ ref, dependsOn }) => ({
          ref,
          dependsOn: [...dependsOn.filter((one) => shipped.has(one)), ...(ref === own ? [COMETBFT['bom-ref']] : [])],
        })),
      { ref: COMETBFT['bom-ref'], dependsOn: [] },
    ],
  }
}

/** Both documents, by the names of their files. */
export function makeBoms(): Readonly<Record<string, Bom>> {
  const bom = npmBom()
  return { 'svcd.cdx.json': shippedOf(bom), 'development.cdx.json': bom }
}

if (import.meta.main) {
  const [folder = join(root, '.cache/sbom')] = programArgs({ allowPositionals: true }).positionals
  mkdirSync(folder, { recursive: true })
  for (const [name, bom] of Object.entries(makeBoms())) {
    writeFileSync(join(folder, name), `${JSON.stringify(bom, null, 2)}\n`)
    process.stdout.write(`${relative(process.cwd(), join(folder, name))}: ${bom.components.length} components\n`)
  }
}
