import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { genesisJson } from '../../comet/home.ts'
import { FIRST_PROGRAM_VERSION, programVersion } from '../../modules/chain/keeper.ts'
import { sqliteCode, takeLock } from '../../base/sqlite.ts'
import type { Signer } from '../../tx/sign.ts'
import { UserError } from '../../node/errors.ts'
import {
  chainIdOf,
  genesisKeys,
  genesisTimeNow,
  writeNetworkHomes,
  type NetworkNode,
  PORTS_OF_ONE,
  statePathOf,
} from '../../node/homes.ts'
import { DEVNET_CHAIN_ID, DEVNET_VALIDATORS_MAX, devnetSigners, recordedChain } from './chain.ts'
import { exportState } from '../commands/export.ts'
import { writeResult } from '../output.ts'
import { abciAddressOf } from '../../node/paths.ts'
import { CONTROL_SOCKET } from './control.ts'
import { type Endpoint, printEndpoint, reachable } from '../../node/settings.ts'
import { acceptProgramVersion, programVersionOf } from '../../node/programVersion.ts'
import { readState, readVerifiedState } from '../../node/stateFile.ts'

// The first validator's own files, the homes of the others beside them, and the headers that svcd query --prove keeps.
const CHAIN_FILES = new Set(['data', 'logs', 'eni', 'abci.sock', 'snapshots', 'light', CONTROL_SOCKET])
for (let at = 1; at < DEVNET_VALIDATORS_MAX; at++) CHAIN_FILES.add(`node${at}`)
// takeLock adds `.lock` to this name, and SQLite may put a journal beside it.
const LOCK = 'devnet'
// What --reset keeps: of config the settings, keys that a user put there, the units of svcd init, a network of svcd testnet,
// and the lock, which is held meanwhile.
const KEPT_FILES = new Set(['config', 'keystore', 'systemd', 'testnet', `${LOCK}.lock`, `${LOCK}.lock-journal`])

/** Throws a UserError unless the folder is missing, empty, or the home of a devnet. Nothing else is ever touched. */
export function assertDevnetHome(home: string): void {
  if (!existsSync(home)) return
  const foreign = readdirSync(home).find((name) => !CHAIN_FILES.has(name) && !KEPT_FILES.has(name))
  if (foreign !== undefined)
    throw new UserError(
      `${home} is not the home of a devnet, because it holds ${foreign}. Choose another one with --home DIR`,
    )
  const chainId = chainIdOf(home)
  const expected = chainId === undefined ? undefined : recordedChain(home).chainId
  if (chainId !== expected)
    throw new UserError(`${home} holds the chain ${chainId}, not ${expected}. Choose another one with --home DIR`)
}

/** Throws a UserError when the devnet was created with another number of validators. Call assertDevnetHome first. */
export function assertValidators(home: string, validators: number): void {
  const held = genesisKeys(home)?.length ?? validators
  if (held === validators) return
  throw new UserError(
    `the devnet in ${home} has ${held} validators, not ${validators}. Continue it with svcd devnet --validators ${held}, ` +
      'or start a new chain with --reset',
  )
}

/**
 * Reserves the home for this process until the lock is closed or the process ends. Returns undefined when a devnet or an
 * application is using the home or that of a validator in it. Call assertDevnetHome first.
 */
export function tryDevnetLock(home: string): { close(): void } | undefined {
  ensureFolder(home)
  const states = [home, ...[...CHAIN_FILES].map((name) => join(home, name))].map(statePathOf)
  let lock: { close(): void } | undefined
  try {
    lock = takeLock(join(home, LOCK))
    for (const state of states) if (existsSync(state)) takeLock(state).close()
    return lock
  } catch (error) {
    lock?.close()
    if (sqliteCode((error as Error).cause) !== 'SQLITE_BUSY') throw error
    return undefined
  }
}

/** The same, but throws a UserError when the home is in use. */
export function takeDevnetLock(home: string): { close(): void } {
  const lock = tryDevnetLock(home)
  if (lock !== undefined) return lock
  throw new UserError(
    `${home} is in use by another devnet or application. Stop that one first, or choose another home with --home DIR`,
  )
}

/** Removes the chain of a devnet from its home, and keeps config/svcd.json. Call assertDevnetHome first. */
export function resetHome(home: string): void {
  const config = join(home, 'config')
  const inConfig = existsSync(config) ? readdirSync(config).filter((name) => name !== 'svcd.json') : []
  for (const name of [...CHAIN_FILES, ...inConfig.map((one) => join('config', one))])
    rmSync(join(home, name), { recursive: true, force: true })
}

/** The home of a devnet, and where its first validator listens. */
interface DevnetSettings {
  readonly home: string
  readonly validators: number
  readonly rpc: Endpoint
  readonly p2p: Endpoint
  /** The owners of its validators; by default the first of the public accounts. */
  readonly owners?: readonly Pick<Signer, 'address'>[]
}

/** A validator of a devnet: its home and where its parts listen. */
export interface DevnetNode extends NetworkNode {
  readonly rpc: Endpoint
  readonly p2p: Endpoint
  readonly abci: string
}

/** The endpoint of validator `index`. Throws a UserError that names the flag when its port would be too high. */
function endpointOf({ host, port }: Endpoint, index: number, flag: string): Endpoint {
  const own = port + PORTS_OF_ONE * index
  if (own > 65_535)
    throw new UserError(
      `${flag}: expected a port of at most ${65_535 - PORTS_OF_ONE * index}, got ${port}: validator ${index} would need port ${own}`,
    )
  return { host, port: own }
}

/**
 * The validators of a devnet. The first one uses the home itself; validator i uses the folder node<i> in it, and ports
 * higher by 10 i. Account i is its owner. Throws a UserError when a port would be too high.
 */
export function devnetNodes(settings: DevnetSettings): readonly DevnetNode[] {
  const { home, validators, rpc, p2p, owners = devnetSigners() } = settings
  return owners.slice(0, validators).map(({ address }, at) => {
    const own = { rpc: endpointOf(rpc, at, '--rpc'), p2p: endpointOf(p2p, at, '--p2p') }
    const ownHome = at === 0 ? home : join(home, `node${at}`)
    const abci = abciAddressOf(ownHome)
    return {
      ...own,
      name: at === 0 ? 'devnet' : `node${at}`,
      home: ownHome,
      abci,
      owner: address,
      peer: reachable(own.p2p),
      addresses: {
        rpc: `tcp://${printEndpoint(own.rpc)}`,
        p2p: `tcp://${printEndpoint(own.p2p)}`,
        abci,
      },
    }
  })
}

/** Writes the homes of a devnet with its public accounts. Existing homes keep their keys and their chain. */
export const writeDevnetHomes = (nodes: readonly DevnetNode[], blockTimeMs?: number) =>
  writeNetworkHomes(nodes, {
    chainId: DEVNET_CHAIN_ID,
    accounts: devnetSigners().map(({ address }) => address),
    blockTimeMs,
  })

/** The program version of the next block of each home. Without a state it is that of genesis. */
const neededVersions = (homes: readonly string[]): readonly number[] =>
  homes.map(statePathOf).map((path) => (existsSync(path) ? readState(path, programVersion) : FIRST_PROGRAM_VERSION))

/**
 * The program version that each application of a devnet executes. It is the accepted one, or the one before it where a
 * home still has to execute the block that retired that one. Such a home gets the block from the others, which stopped
 * with it, and then stops too.
 */
export function programVersionsOf(homes: readonly string[], accepted: number): readonly number[] {
  const needed = neededVersions(homes)
  return needed.map((one) => (one === accepted - 1 && needed.includes(accepted) ? one : accepted))
}

/**
 * Has this release run the program version that the chain of a devnet is at after a revert, which may be one from before
 * a retirement. `given`: the version that a flag names. Returns it, or the version that takes its place.
 */
export function acceptReverted(home: string, homes: readonly string[], given?: number): number | undefined {
  const version = Math.max(...neededVersions(homes))
  if (version === programVersionOf(home, given)) return given
  acceptProgramVersion(home, version)
  return version
}

/**
 * Writes the state of a stopped devnet as a genesis file, from which another one can start, unless it has no block yet.
 * A link to a file is followed. Throws a GenesisError when no chain could start from it, and a UserError or FolderError
 * when it cannot be written.
 */
export function saveState(home: string, chainId: string, path: string): void {
  const source = statePathOf(home)
  const exported = existsSync(source)
    ? readVerifiedState(source, (state) => (state.height() === 0 ? undefined : exportState(state, state.height())))
    : undefined
  if (exported === undefined) return
  const { appState, validators } = exported
  const genesisTime = genesisTimeNow()
  ensureFolder(dirname(path), 0o700)
  writeResult(path, genesisJson({ chainId, genesisTime, appState, validators }))
}
