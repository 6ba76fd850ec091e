/**
 * CometBFT for each kind of machine, as packages that npm installs beside svcd where their `os` and `cpu` fit. Built from
 * Go's module proxy, which its checksum database vouches for, by one release of Go and without paths of the machine: so
 * anybody can build the same bytes again. cometbft.json records their checksums.
 */
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildCometBft, goEnv, type Report, type Target } from '../../src/comet/build.ts'
import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { type Platform, platformPackage, programFile } from '../../src/base/cometbftPackage.ts'

/** What was built at a release. */
interface Recorded {
  readonly cometbft: string
  /** The release of Go. */
  readonly go: string
  readonly sha256: Readonly<Record<Platform, string>>
}

const RECORD = join(import.meta.dirname, 'cometbft.json')
/** What cometbft.json says. */
export const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Recorded

const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows' }
const PROCESSORS: Readonly<Record<string, string>> = { x64: 'amd64' }

const targetOf = (platform: Platform): Target => {
  const [system = '', processor = ''] = platform.split('-')
  return { goos: SYSTEMS[system] ?? system, goarch: PROCESSORS[processor] ?? processor }
}

interface Options {
  /** The folder in which programs are kept. */
  readonly cache: string
  /** With the release of Go that is recorded, which Go downloads; otherwise with that of the machine. */
  readonly isRelease: boolean
  /** Record the checksums in place of comparing them. */
  readonly isRecording?: boolean
  readonly onProgress: Report
}

const readmeOf = (platform: Platform, go: string, sha256: string): string => `# ${platformPackage(platform)}

CometBFT ${COMETBFT_VERSION} for ${platform}, for [svcd](https://www.npmjs.com/package/svcd). npm installs it with svcd
on such a machine; \`svcd\` finds it there.

It is the program of https://github.com/cometbft/cometbft/tree/v${COMETBFT_VERSION}, unchanged, under the licence in
LICENSE. \`go version -m\` names the libraries in it. ${go} builds the same bytes from Go's module proxy:

\`\`\`
CGO_ENABLED=0 go install -trimpath -ldflags='-s -w' github.com/cometbft/cometbft/cmd/cometbft@v${COMETBFT_VERSION}
\`\`\`

sha256 of \`bin/${programFile('cometbft', platform)}\`: \`${sha256}\`
`

/** Builds CometBFT for a kind of machine. Returns its bytes' checksum, and the release of Go. */
async function build(platform: Platform, cacheDir: string, { isRelease, onProgress }: Options) {
  const env = { ...process.env, GOTOOLCHAIN: isRelease ? recorded.go : 'local' }
  await buildCometBft({ go: 'go', version: COMETBFT_VERSION, cacheDir, env, target: targetOf(platform), onProgress })
  const [go = '', modules = ''] = await goEnv('go', ['GOVERSION', 'GOMODCACHE'], env)
  const program = join(cacheDir, programFile('cometbft', platform))
  const sha256 = createHash('sha256').update(readFileSync(program)).digest('hex')
  const licence = join(modules, `github.com/cometbft/cometbft@v${COMETBFT_VERSION}/LICENSE`)
  return { program, sha256, go, licence }
}

/**
 * Throws when a program is not the one that cometbft.json records. A program of another CometBFT or release of Go cannot be
 * compared, which only a release refuses.
 */
export function assertRecorded(
  platform: Platform,
  { go, sha256 }: { readonly go: string; readonly sha256: string },
  isRelease: boolean,
  record = recorded,
): void {
  const isComparable = go === record.go && record.cometbft === COMETBFT_VERSION
  if (isRelease && !isComparable)
    throw new Error(
      `tools/packages/cometbft.json has the checksums of CometBFT ${record.cometbft} built with ${record.go}, not of ` +
        `${COMETBFT_VERSION} built with ${go}. Run npm run pack -- --record and commit the file before the release`,
    )
  if (isComparable && sha256 !== record.sha256[platform])
    throw new Error(`CometBFT for ${platform}: expected sha256 ${record.sha256[platform]}, got ${sha256}`)
}

/**
 * Writes the folder of a package into `out` for each of `platforms`, and returns them. Throws when a program is not the
 * one that was recorded for the release of Go that made it, and in a release also when none was.
 */
export async function writeCometBft(
  platforms: readonly Platform[],
  out: string,
  manifest: object,
  options: Options,
): Promise<readonly string[]> {
  const folders: string[] = []
  const sums: Partial<Record<Platform, string>> = {}
  for (const platform of platforms) {
    const { program, sha256, go, licence } = await build(platform, join(options.cache, platform), options)
    sums[platform] = sha256
    if (options.isRecording !== true) assertRecorded(platform, { go, sha256 }, options.isRelease)
    const folder = join(out, `cometbft-${platform}`)
    const copy = join(folder, 'bin', programFile('cometbft', platform))
    mkdirSync(join(folder, 'bin'), { recursive: true })
    copyFileSync(program, copy)
    chmodSync(copy, 0o755)
    copyFileSync(licence, join(folder, 'LICENSE'))
    writeFileSync(join(folder, 'README.md'), readmeOf(platform, go, sha256))
    const [os, cpu] = platform.split('-')
    const members = {
      ...manifest,
      name: platformPackage(platform),
      description: `CometBFT ${COMETBFT_VERSION} for ${platform}`,
      license: 'Apache-2.0',
      os: [os],
      cpu: [cpu],
      preferUnplugged: true,
      cometbft: { version: COMETBFT_VERSION, go, sha256 },
    }
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(members, null, 2)}\n`)
    folders.push(folder)
  }
  if (options.isRecording === true) {
    const record = { cometbft: COMETBFT_VERSION, go: recorded.go, sha256: { ...recorded.sha256, ...sums } }
    writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`)
  }
  return folders
}
