import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWithGo, type Report } from '../src/comet/build.ts'
import { COMETBFT_VERSION, findCometBft } from '../src/comet/find.ts'
import { cometProgram } from '../tools/testing/cometVersions.ts'

/** The peers by the names that `--peers` takes. `signatures`: our own, with nothing behind them. */
export const PEERS = ['kvstore', 'signatures', 'sdk'] as const
export type Peer = (typeof PEERS)[number]

export interface Programs {
  /** CometBFT, which also holds the kvstore that runs inside it. */
  readonly cometbft: string
  readonly version: string
  /** `abci-cli`, which serves the same kvstore over a socket. */
  readonly abciCli: string
  /** The chain of cosmos-sdk. Undefined where it is not asked for or could not be built. */
  readonly sdk: string | undefined
}

const SDK_FOLDER = fileURLToPath(new URL('sdk', import.meta.url))
const versionIn = (module: string): string =>
  new RegExp(`^\\s(?:require )?${module} v(\\S+)`, 'm').exec(readFileSync(join(SDK_FOLDER, 'go.mod'), 'utf8'))?.[1] ??
  ''

/** The versions that `bench/sdk/go.mod` pins. */
export const SDK_VERSION: string = versionIn('github.com/cosmos/cosmos-sdk')
/** The CometBFT inside the chain of cosmos-sdk. */
export const SDK_COMETBFT_VERSION: string = versionIn('github.com/cometbft/cometbft')

// With Go 1.26.
const SDK_SIZE = { modules: 136, packages: 1_135 }

/** The folder in which the chain of cosmos-sdk is kept, named after its version and the sources of `bench/sdk`. */
function sdkCache(): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(SDK_FOLDER).sort()) hash.update(readFileSync(join(SDK_FOLDER, name)))
  const name = `${SDK_VERSION}-${hash.digest('hex').slice(0, 8)}`
  return fileURLToPath(new URL(`../.cache/cosmos-sdk/${name}`, import.meta.url))
}

const SDK_PROGRAM = 'sdkd'

/** Where the program of `bench/sdk` is, or will be when it is built. */
export const sdkPath = (): string => join(sdkCache(), SDK_PROGRAM)

/** `bench/sdk`, built with Go when it is not in the cache. Throws a CometError with what Go says. */
async function findSdk(onProgress: Report): Promise<string> {
  const path = sdkPath()
  if (existsSync(path)) return path
  await buildWithGo({
    go: 'go',
    name: 'cosmos-sdk',
    version: SDK_VERSION,
    program: SDK_PROGRAM,
    command: (folder) => ['build', '-v', '-o', join(folder, SDK_PROGRAM), '.'],
    cwd: SDK_FOLDER,
    size: SDK_SIZE,
    cacheDir: sdkCache(),
    env: process.env,
    onProgress,
  })
  return path
}

/** The genesis state of the chain of cosmos-sdk for a load, whose validator has this key (base64). */
export const sdkGenesis = (program: string, pubKey: string, load: 'send' | 'mix'): object =>
  JSON.parse(execFileSync(program, ['genesis', load, pubKey], { encoding: 'utf8', maxBuffer: 1 << 28 })) as object

/** What was found, and why a peer that was asked for is missing. */
export interface Found {
  readonly programs: Programs
  readonly leftOut: readonly string[]
}

/**
 * CometBFT as `src/comet/find.ts` finds it, `abci-cli` of COMETBFT_VERSION and, if `peers` has it, the chain of
 * cosmos-sdk. What is not in the cache is built with Go. Without cosmos-sdk the others are measured; without one of the
 * first two it throws what Go says.
 */
export async function findPrograms(peers: readonly Peer[], onProgress: Report): Promise<Found> {
  const { path: cometbft, version } = await findCometBft({ onProgress })
  const abciCli = await cometProgram(COMETBFT_VERSION, onProgress, 'abci-cli')
  const leftOut: string[] = []
  const sdk = !peers.includes('sdk')
    ? undefined
    : await findSdk(onProgress).catch((error: Error) => void leftOut.push(`cosmos-sdk is left out: ${error.message}`))
  return { programs: { cometbft, version, abciCli, sdk: sdk ?? undefined }, leftOut }
}
