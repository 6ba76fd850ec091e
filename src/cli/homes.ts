import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { assertGenesisLimits, BLOCK_BYTES_MAX } from '../app/genesis.ts'
import { TOKEN } from '../base/amount.ts'
import { sha256, toHex, utf8 } from '../base/bytes.ts'
import { ensureFolder } from '../base/folder.ts'
import type { NodeSettings } from '../comet/config.ts'
import { homeFiles, writeNodeHome, writeNodeKeys, type NodeIdentity } from '../comet/home.ts'
import { readGenesis } from '../modules/genesis.ts'
import { PARAMETERS } from '../modules/params/definitions.ts'
import { UserError } from './errors.ts'
import { type Endpoint, printEndpoint } from './settings.ts'

/** The state of a home. */
export const statePathOf = (home: string): string => join(home, 'data', 'state.db')

/** The state of a home that has one. Errors: UserError where there is none. */
export function needState(home: string): string {
  const path = statePathOf(home)
  if (!existsSync(path)) throw new UserError(`${path}: there is no state yet; name another home with --home DIR`)
  return path
}

/** The folder of a home's snapshots. */
export const snapshotsOf = (home: string): string => join(home, 'data', 'snapshots')

/** The database that a snapshot is restored into before it takes the place of the state. */
export const restorePathOf = (home: string): string => join(home, 'data', 'restore.db')

/** Mode of a home and of every folder in it; its files are 0600. */
const HOME_MODE = 0o700

/**
 * Closes a home to the other users of the machine: a folder of this user that is empty or holds a chain becomes mode
 * 0700. Of any other folder that is open `say` only tells, as somebody may share it on purpose. Nothing when there is
 * no such folder yet.
 */
export function closeHome(home: string, say: (line: string) => void): void {
  const found = statSync(home, { throwIfNoEntry: false })
  // Windows has no such modes.
  if (found === undefined || !found.isDirectory() || process.platform === 'win32' || (found.mode & 0o077) === 0) return
  const open = `${home}: mode 0${(found.mode & 0o777).toString(8)} opens it to other users of this machine`
  const isEmpty = readdirSync(home).length === 0
  const isOurs = found.uid === process.getuid?.() && (isEmpty || existsSync(join(home, 'config', 'genesis.json')))
  if (!isOurs) return say(`${open}: chmod 700 ${home}`)
  chmodSync(home, HOME_MODE)
  if (!isEmpty) say(`${open}: it is 0700 now`)
}

/** One account that a new chain starts with a candidacy of. */
export interface Founder {
  readonly owner: string
  readonly pubKey: string
  readonly name: string
}

const units = (tokens: bigint): string => (tokens * TOKEN).toString()

/**
 * `app_state` of a new chain: each account has 100,000 tokens, each founder a candidacy of 10,000,000 tokens beside its
 * balance, and the first founder is the foundation. All that is not named is the default of genesis.
 */
export const newAppState = (
  founders: readonly Founder[],
  accounts: readonly string[] = founders.map(({ owner }) => owner),
): object => ({
  accounts: accounts.map((address) => ({ address, balance: units(100_000n) })),
  stake: { foundation_address: founders[0]?.owner },
  candidacies: founders.map(({ owner, pubKey, name }) => ({
    owner,
    pub_key: pubKey,
    shares: units(10_000_000n),
    max_shares: units(100_000_000n),
    comp_rate: '0.5',
    description: { name },
  })),
})

/** Now as a genesis time, to the second. */
export const genesisTimeNow = (): string => `${new Date().toISOString().slice(0, 19)}Z`

/**
 * Largest genesis file: its app_state comes to the application in one request, which is bounded like one with a block.
 */
export const GENESIS_BYTES_MAX: number = BLOCK_BYTES_MAX

/** What a genesis file says, as far as it is looked at here. */
export interface GenesisFile {
  readonly text: string
  readonly chainId: string
  readonly appState: unknown
}

interface GenesisJson {
  readonly chain_id?: unknown
  readonly initial_height?: unknown
  readonly consensus_params?: { readonly block?: { readonly max_bytes?: unknown } | null } | null
  readonly app_state?: unknown
}

function parse(path: string): { readonly text: string; readonly json: GenesisJson } {
  const { size } = statSync(path)
  if (size > GENESIS_BYTES_MAX)
    throw new UserError(`${path}: expected a genesis file of at most ${GENESIS_BYTES_MAX} bytes, got ${size}`)
  const text = readFileSync(path, 'utf8')
  try {
    const json = JSON.parse(text) as GenesisJson | null
    if (typeof json?.chain_id === 'string') return { text, json }
  } catch {
    /* said below */
  }
  throw new UserError(`${path}: expected a genesis file with a chain_id`)
}

/**
 * Reads a genesis file whose chain can be served, as far as its size, consensus parameters and initial height tell; its
 * app_state is not looked at. Throws a UserError that names the file, and what the file system throws.
 */
export function readGenesisFile(path: string): GenesisFile {
  const { text, json } = parse(path)
  const maxBytes = json.consensus_params?.block?.max_bytes
  try {
    assertGenesisLimits({
      blockMaxBytes: maxBytes === undefined ? undefined : Number(maxBytes),
      initialHeight: Number(json.initial_height ?? 1),
    })
  } catch (error) {
    throw new UserError(`${path}: ${(error as Error).message}`)
  }
  return { text, chainId: json.chain_id as string, appState: json.app_state }
}

/** A node of a network whose home is to be made. */
export interface NetworkNode {
  readonly name: string
  /** Absolute. */
  readonly home: string
  /** Account whose candidacy it validates for; a node without one follows the chain and signs nothing. */
  readonly owner?: string | undefined
  /** Where the others dial it. */
  readonly peer: Endpoint
  readonly addresses: NonNullable<NodeSettings['addresses']>
  /** What it tells others to dial, when that is not where it listens: host:port. */
  readonly externalAddress?: string
}

/** `accounts`: who has tokens, the owners among them. The rest is as in NodeHomeOptions. */
interface NetworkOptions {
  readonly chainId: string
  readonly accounts: readonly string[]
  readonly blockTimeMs?: number | undefined
}

const MAX_VALS_DEFAULT = Number(PARAMETERS.get('max_vals')?.fallback)

/** The validators' public keys in a home's genesis file, base64; undefined when it has no such file yet. */
export function genesisKeys(home: string): readonly string[] | undefined {
  const path = homeFiles(home).genesis
  if (!existsSync(path)) return undefined
  const { validators = [] } = JSON.parse(readFileSync(path, 'utf8')) as {
    validators?: readonly { pub_key: { value: string } }[]
  }
  return validators.map((row) => row.pub_key.value)
}

/** The home has the genesis file of another, whole or not at all, unless it has one. */
function takeGenesis(home: string, from: string): void {
  const path = homeFiles(home).genesis
  if (existsSync(path)) return
  ensureFolder(dirname(path))
  copyFileSync(homeFiles(from).genesis, `${path}.new`)
  renameSync(`${path}.new`, path)
}

/**
 * Every home can be started: keys, one genesis, and all others as peers. The first is a validator's. Homes that are
 * there keep keys, signing state and genesis, so that this may be run again, after a crash at any point, and with more
 * nodes that are no validators. Errors: UserError when a validator's key is not the one in the genesis that is there;
 * CometError for a value that CometBFT refuses.
 */
export function writeNetworkHomes<Node extends NetworkNode>(
  nodes: readonly Node[],
  { chainId, accounts, blockTimeMs }: NetworkOptions,
): readonly (Node & NodeIdentity)[] {
  const first = (nodes[0] as Node).home
  const made = nodes.map((node) => ({ ...node, ...writeNodeKeys(node.home) }))
  const founders = made.flatMap((node) => (node.owner === undefined ? [] : [{ ...node, owner: node.owner }]))
  const known = genesisKeys(first)
  const stranger = known === undefined ? undefined : founders.find(({ pubKey }) => !known.includes(pubKey))
  if (stranger !== undefined) {
    throw new UserError(
      `${homeFiles(stranger.home).validatorKey} is not the key in the genesis file of ${first}: put that key back`,
    )
  }
  const appState = {
    ...newAppState(founders, accounts),
    ...(founders.length > MAX_VALS_DEFAULT ? { params: { max_vals: founders.length } } : {}),
  }
  readGenesis(appState)
  const genesis = {
    appState,
    genesisTime: genesisTimeNow(),
    validators: founders.map(({ pubKey, name }) => ({ pubKey, power: 10, name })),
  }
  for (const node of made) {
    if (node.home !== first) takeGenesis(node.home, first)
    const others = made.filter((one) => one !== node).map(({ nodeId, peer }) => `${nodeId}@${printEndpoint(peer)}`)
    const { home, name: moniker, addresses, externalAddress } = node
    writeNodeHome({
      home,
      chainId,
      moniker,
      privateNet: true,
      genesis,
      addresses,
      ...(blockTimeMs === undefined ? {} : { blockTimeMs }),
      peers: {
        ...(others.length === 0 ? {} : { persistentPeers: others }),
        ...(externalAddress === undefined ? {} : { externalAddress }),
      },
    })
  }
  return made
}

/**
 * The chain id of a home's genesis file; undefined when it has none yet. Throws a UserError for one whose chain cannot
 * be served.
 */
export function chainIdOf(home: string): string | undefined {
  const path = join(home, 'config', 'genesis.json')
  return existsSync(path) ? readGenesisFile(path).chainId : undefined
}

/** Ports that each node has for itself, from the base port on; those it does not use are for what stands beside it. */
export const PORTS_OF_ONE = 10

// A socket's path has at most 107 bytes on Linux, 103 on macOS.
const SOCKET_PATH_MAX = 103

/**
 * The address of the ABCI socket: in the home, or where that path is too long for a socket, in the system's folder for
 * such files.
 */
export function abciAddressOf(home: string): string {
  const inside = join(home, 'abci.sock')
  if (utf8(inside).length <= SOCKET_PATH_MAX) return `unix://${inside}`
  return `unix://${join(tmpdir(), `svcd-${toHex(sha256(utf8(home))).slice(0, 16)}.sock`)}`
}
