import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assertGenesisLimits, BLOCK_BYTES_MAX } from '../app/genesis.ts'
import { TOKEN } from '../base/amount.ts'
import { ensureFolder } from '../base/folder.ts'
import { parseJson } from '../base/json.ts'
import type { NodeSettings } from '../comet/config.ts'
import {
  homeFiles,
  signingFiles,
  whyUnsafeToSign,
  writeNodeHome,
  writeNodeKeys,
  type NodeIdentity,
} from '../comet/home.ts'
import { FIRST_PROGRAM_VERSION } from '../modules/chain/keeper.ts'
import { readGenesis } from '../modules/genesis.ts'
import { PARAMETERS } from '../modules/params/definitions.ts'
import { UserError } from './errors.ts'
import { acceptProgramVersion, programVersionOf } from './programVersion.ts'
import { type Endpoint, printEndpoint } from './settings.ts'

/** The path of a home's state. */
export const statePathOf = (home: string): string => join(home, 'data', 'state.db')

/** The path of a home's index of histories. */
export const historyPathOf = (home: string): string => join(home, 'data', 'history.db')

/** The path of the state of a home that has one. Throws a UserError where there is none. */
export function needState(home: string): string {
  const path = statePathOf(home)
  if (!existsSync(path))
    throw new UserError(`${path} does not exist: this home has no state yet. Choose another one with --home DIR`)
  return path
}

/** The folder of a home's snapshots. */
export const snapshotsOf = (home: string): string => join(home, 'data', 'snapshots')

/** The path of the database into which a snapshot is restored before it replaces the state. */
export const restorePathOf = (home: string): string => join(home, 'data', 'restore.db')

/**
 * Closes a home to other users of the machine: if it belongs to this user and is empty or holds a chain, it gets mode
 * 0700. For any other folder that is open, `say` only receives a warning, because somebody may share it on purpose.
 */
export function closeHome(home: string, say: (line: string) => void): void {
  const found = statSync(home, { throwIfNoEntry: false })
  // Windows has no file modes.
  if (found === undefined || !found.isDirectory() || process.platform === 'win32' || (found.mode & 0o077) === 0) return
  const open = `${home}: mode 0${(found.mode & 0o777).toString(8)} lets other users of this machine read it`
  const isEmpty = readdirSync(home).length === 0
  const isOurs = found.uid === process.getuid?.() && (isEmpty || existsSync(homeFiles(home).genesis))
  if (!isOurs) return say(`${open}; run chmod 700 ${home}`)
  chmodSync(home, 0o700)
  if (!isEmpty) say(`${open}; changed it to 0700`)
}

/** An account that has a candidacy from genesis on. */
export interface GenesisOwner {
  readonly owner: string
  readonly pubKey: string
  readonly name: string
}

const units = (tokens: bigint): string => (tokens * TOKEN).toString()

/**
 * Creates the `app_state` of a new chain. Each account has `balance` base units, by default 100,000 tokens, each owner
 * also a candidacy of 10,000,000 tokens, and the first owner is the foundation. Everything else is a default of genesis.
 */
export const newAppState = (
  owners: readonly GenesisOwner[],
  accounts: readonly string[] = owners.map(({ owner }) => owner),
  balance = 100_000n * TOKEN,
): object => ({
  accounts: accounts.map((address) => ({ address, balance: balance.toString() })),
  stake: { foundation_address: owners[0]?.owner },
  candidacies: owners.map(({ owner, pubKey, name }) => ({
    owner,
    pub_key: pubKey,
    shares: units(10_000_000n),
    max_shares: units(100_000_000n),
    comp_rate: '0.5',
    description: { name },
  })),
})

/** The current time as a genesis time, in whole seconds. */
export const genesisTimeNow = (): string => `${new Date().toISOString().slice(0, 19)}Z`

/** The parts of a genesis file that the CLI needs. */
export type GenesisFile = ReturnType<typeof readGenesisFile>

interface GenesisJson {
  readonly chain_id?: unknown
  readonly initial_height?: unknown
  readonly consensus_params?: {
    readonly block?: { readonly max_bytes?: unknown } | null
    readonly validator?: { readonly pub_key_types?: unknown } | null
  } | null
  readonly app_state?: unknown
}

/**
 * Reads a genesis file and checks its size, its consensus parameters and its initial height, but not its app_state.
 * Throws a UserError that names the file, and errors of the file system.
 */
export function readGenesisFile(path: string) {
  const found = statSync(path)
  if (!found.isFile()) throw new UserError(`${path}: expected a genesis file, got a folder or a device`)
  const { size } = found
  // The app_state reaches the application in one request, which has the limit of a request with a block.
  if (size > BLOCK_BYTES_MAX)
    throw new UserError(`${path}: expected a genesis file of at most ${BLOCK_BYTES_MAX} bytes, got ${size}`)
  const text = readFileSync(path, 'utf8')
  const json = (parseJson(text) ?? null) as GenesisJson | null
  const chainId = json?.chain_id
  if (json === null || typeof chainId !== 'string')
    throw new UserError(`${path}: expected a genesis file: JSON with a chain_id. Put that of the chain in its place`)
  const { block, validator } = json.consensus_params ?? {}
  const maxBytes = block?.max_bytes
  try {
    assertGenesisLimits({
      blockMaxBytes: maxBytes === undefined ? undefined : Number(maxBytes),
      pubKeyTypes: validator?.pub_key_types,
      initialHeight: Number(json.initial_height ?? 1),
    })
  } catch (error) {
    throw new UserError(`${path}: ${(error as Error).message}`)
  }
  return { text, chainId, appState: json.app_state }
}

/** A node of a network whose home is to be written. */
export interface NetworkNode {
  readonly name: string
  /** An absolute path. */
  readonly home: string
  /** The owner of the candidacy for which it validates. A node without one follows the chain and signs nothing. */
  readonly owner?: string | undefined
  /** Where its peers dial it. */
  readonly peer: Endpoint
  readonly addresses: NonNullable<NodeSettings['addresses']>
  /** The address that it tells peers to dial, as host:port, if it is not where it listens. */
  readonly externalAddress?: string
}

interface NetworkOptions {
  readonly chainId: string
  /** The accounts with tokens, which include the owners. */
  readonly accounts: readonly string[]
  readonly blockTimeMs?: number | undefined
  /** Makes the `app_state` of a new chain. Default: that of newAppState. */
  readonly appStateOf?: (owners: readonly GenesisOwner[]) => object
}

const MAX_VALS_DEFAULT = Number(PARAMETERS.get('max_vals')?.fallback)

/** The validators' public keys in a home's genesis file, in base64; undefined when it has no genesis file. */
export function genesisKeys(home: string): readonly string[] | undefined {
  const path = homeFiles(home).genesis
  if (!existsSync(path)) return undefined
  const { validators = [] } = JSON.parse(readFileSync(path, 'utf8')) as {
    validators?: readonly { pub_key: { value: string } }[]
  }
  return validators.map((row) => row.pub_key.value)
}

/**
 * Writes the homes of a network, so that every node can be started: its keys, one genesis file for all, and all others
 * as peers. The first node is a validator. Existing homes keep their keys, signing state and genesis, so this can be
 * repeated, also after a crash and with more full nodes. Throws a UserError when a validator's key is not in an
 * existing genesis file, and a CometError for a value that CometBFT refuses.
 */
export function writeNetworkHomes<Node extends NetworkNode>(
  nodes: readonly Node[],
  { chainId, accounts, blockTimeMs, appStateOf = (owners) => newAppState(owners, accounts) }: NetworkOptions,
): readonly (Node & NodeIdentity)[] {
  const first = (nodes[0] as Node).home
  const made = nodes.map((node) => ({ ...node, ...writeNodeKeys(node.home) }))
  const owners = made.flatMap((node) => (node.owner === undefined ? [] : [{ ...node, owner: node.owner }]))
  const known = genesisKeys(first)
  const stranger = known === undefined ? undefined : owners.find(({ pubKey }) => !known.includes(pubKey))
  if (stranger !== undefined) {
    throw new UserError(
      `${signingFiles(stranger.home).validatorKey} is not a key of the genesis file in ${first}: put the validator's own key back`,
    )
  }
  const state = appStateOf(owners) as { readonly params?: object }
  const appState =
    owners.length > MAX_VALS_DEFAULT ? { ...state, params: { max_vals: owners.length, ...state.params } } : state
  readGenesis(appState)
  const genesis = {
    appState,
    genesisTime: genesisTimeNow(),
    validators: owners.map(({ pubKey, name }) => ({ pubKey, power: 10, name })),
  }
  for (const node of made) {
    // A chain that this release begins runs by its rules from the first block on.
    if (known === undefined) acceptProgramVersion(node.home, FIRST_PROGRAM_VERSION)
    else if (genesisKeys(node.home) === undefined) acceptProgramVersion(node.home, programVersionOf(first))
    const others = made.filter((one) => one !== node).map(({ nodeId, peer }) => `${nodeId}@${printEndpoint(peer)}`)
    const { home, name: moniker, addresses, externalAddress } = node
    writeNodeHome({
      home,
      chainId,
      moniker,
      privateNet: true,
      genesis: node.home === first ? genesis : { text: readFileSync(homeFiles(first).genesis, 'utf8') },
      addresses,
      ...(blockTimeMs === undefined ? {} : { blockTimeMs }),
      peers: {
        ...(others.length === 0 ? {} : { persistentPeers: others, dialsOthers: false }),
        ...(externalAddress === undefined ? {} : { externalAddress }),
      },
    })
  }
  return made
}

/** Writes files into a folder, which is created with mode 0700. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>, mode = 0o600): void {
  ensureFolder(folder, 0o700)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode })
}

/** The chain id of a home's genesis file; undefined when it has none. Throws what readGenesisFile throws. */
export function chainIdOf(home: string): string | undefined {
  const path = homeFiles(home).genesis
  return existsSync(path) ? readGenesisFile(path).chainId : undefined
}

/** The chain id of a home that has a genesis file. Throws a UserError where there is none. */
export function needChainId(home: string): string {
  const chainId = chainIdOf(home)
  if (chainId !== undefined) return chainId
  throw new UserError(
    `${home} has no config/genesis.json. Create the home with svcd init, or name another one with --home DIR`,
  )
}

/** Throws a UserError for a home in which CometBFT must not start, because its key could sign a height twice. */
export function assertSafeToSign(home: string): void {
  const why = whyUnsafeToSign(home)
  if (why !== undefined) throw new UserError(why)
}

/** How many ports each node has, from its base port on. Some are left free for programs beside it. */
export const PORTS_OF_ONE = 10
