import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { PUBLIC_MNEMONIC, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { programVersion } from '../../modules/chain/keeper.ts'
import { tables } from '../../modules/registry.ts'
import { sqliteCode, takeLock } from '../../store/sqlite/connection.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import { type Signer, signerOfSeed } from '../../tx/sign.ts'
import { UserError } from '../errors.ts'
import {
  abciAddressOf,
  chainIdOf,
  genesisKeys,
  writeNetworkHomes,
  type NetworkNode,
  PORTS_OF_ONE,
  statePathOf,
} from '../homes.ts'
import { type Endpoint, printEndpoint } from '../settings.ts'

/** Chain id of every devnet. */
export const DEVNET_CHAIN_ID = 'svcd-devnet'

/** Accounts of a devnet, and so the most validators that one can have. */
export const DEVNET_ACCOUNTS = 10

/** The accounts of the public mnemonic: anybody has their keys. */
export const devnetSigners = (): readonly Signer[] =>
  Array.from({ length: DEVNET_ACCOUNTS }, (_, index) => signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, index)))

// Beside the first validator's own things the homes of the others.
const OURS = new Set([
  'config',
  'data',
  'logs',
  'eni',
  'abci.sock',
  ...Array.from({ length: DEVNET_ACCOUNTS - 1 }, (_, at) => `node${at + 1}`),
])
// takeLock adds `.lock`, and SQLite a journal to it.
const LOCK = 'devnet'
// Keys that somebody put there and the units of svcd init outlive every chain; the lock is held while another is begun.
const KEPT = new Set(['keystore', 'systemd', `${LOCK}.lock`, `${LOCK}.lock-journal`])

/**
 * Throws a UserError unless the folder is absent, empty, or the home of a devnet: nothing of anybody else is touched.
 */
export function assertDevnetHome(home: string): void {
  if (!existsSync(home)) return
  const foreign = readdirSync(home).find((name) => !OURS.has(name) && !KEPT.has(name))
  if (foreign !== undefined)
    throw new UserError(`${home} is not the home of a devnet: it holds ${foreign}. Choose another with --home DIR`)
  const chainId = chainIdOf(home)
  if (chainId !== undefined && chainId !== DEVNET_CHAIN_ID) {
    throw new UserError(`${home} holds the chain ${chainId}, not ${DEVNET_CHAIN_ID}. Choose another with --home DIR`)
  }
}

/**
 * Throws a UserError when the devnet of this home was begun with another number of validators. Call assertDevnetHome
 * first.
 */
export function assertValidators(home: string, validators: number): void {
  const held = genesisKeys(home)?.length ?? validators
  if (held === validators) return
  throw new UserError(
    `the devnet in ${home} has ${held} validators, not ${validators}: go on with svcd devnet --validators ${held}, ` +
      'or begin a new chain with --reset',
  )
}

/**
 * The home is this process's alone until the lock is closed or the process ends. Throws a UserError when a devnet runs
 * in it, or an application on it or on a validator's home in it; what they use is then as it was. Call assertDevnetHome
 * first.
 */
export function takeDevnetLock(home: string): { close(): void } {
  ensureFolder(home)
  const states = [
    home,
    ...readdirSync(home)
      .filter((name) => OURS.has(name))
      .map((name) => join(home, name)),
  ].map(statePathOf)
  let lock: { close(): void } | undefined
  try {
    lock = takeLock(join(home, LOCK))
    for (const state of states.filter((path) => existsSync(path))) takeLock(state).close()
    return lock
  } catch (error) {
    lock?.close()
    if (sqliteCode((error as Error).cause) !== 'SQLITE_BUSY') throw error
    throw new UserError(
      `${home} is in use by another devnet or application: stop that one first, or choose another home with --home DIR`,
    )
  }
}

/** Removes what a devnet left in its home. Call assertDevnetHome first. */
export function resetHome(home: string): void {
  for (const name of OURS) rmSync(join(home, name), { recursive: true, force: true })
}

/** Where a devnet is, and where its first validator listens. */
interface DevnetPlace {
  readonly home: string
  readonly validators: number
  readonly rpc: Endpoint
  readonly p2p: Endpoint
}

/** One validator of a devnet: its home and where its parts listen. */
export interface DevnetNode extends NetworkNode {
  readonly rpc: Endpoint
  readonly p2p: Endpoint
  readonly abci: string
}

/** Validator `at`'s endpoint. Throws a UserError that names the flag when there is no such port. */
function endpointOf({ host, port }: Endpoint, at: number, flag: string): Endpoint {
  const own = port + PORTS_OF_ONE * at
  if (own > 65_535)
    throw new UserError(
      `${flag}: validator ${at} would need port ${own}: begin at ${65_535 - PORTS_OF_ONE * at} or lower`,
    )
  return { host, port: own }
}

/**
 * The validators of a devnet: the first has the home itself, validator i the folder node<i> in it, and 10 i added to
 * the ports. Account i owns it. Throws a UserError when there are no such ports.
 */
export function devnetNodes({ home, validators, rpc, p2p }: DevnetPlace): readonly DevnetNode[] {
  return devnetSigners()
    .slice(0, validators)
    .map(({ address }, at) => {
      const own = { rpc: endpointOf(rpc, at, '--rpc'), p2p: endpointOf(p2p, at, '--p2p') }
      const ownHome = at === 0 ? home : join(home, `node${at}`)
      const abci = abciAddressOf(ownHome)
      return {
        ...own,
        name: at === 0 ? 'devnet' : `node${at}`,
        home: ownHome,
        abci,
        owner: address,
        peer: { host: /^(?:0\.0\.0\.0|::)$/.test(p2p.host) ? '127.0.0.1' : p2p.host, port: own.p2p.port },
        addresses: {
          rpc: `tcp://${printEndpoint(own.rpc)}`,
          p2p: `tcp://${printEndpoint(own.p2p)}`,
          abci,
          metrics: false,
        },
      }
    })
}

/** The homes of a devnet with its public accounts; those that are there keep keys and chain. */
export const writeDevnetHomes = (nodes: readonly DevnetNode[], blockTimeMs?: number) =>
  writeNetworkHomes(nodes, {
    chainId: DEVNET_CHAIN_ID,
    accounts: devnetSigners().map(({ address }) => address),
    blockTimeMs,
  })

/** The program version that the state of a home needs; that of genesis when it has none yet. */
function versionOf(home: string): number {
  const path = statePathOf(home)
  if (!existsSync(path)) return 1
  const reader = openSqliteReader({ path, tables })
  try {
    return reader.read(programVersion)
  } finally {
    reader.close()
  }
}

/**
 * What each application of a devnet executes: the version that was accepted, but the one before where a home has still
 * to execute the block in which that was retired. Such a home gets the block from the others, who stopped as soon as
 * they had it, and then stops as they did.
 */
export function versionsOf(homes: readonly string[], accepted: number): readonly number[] {
  const needed = homes.map(versionOf)
  return needed.map((one) => (one === accepted - 1 && needed.includes(accepted) ? one : accepted))
}
