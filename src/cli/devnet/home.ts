import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { sha256 } from '../../base/hash.ts'
import { toHex, utf8 } from '../../base/bytes.ts'
import { makeFolder } from '../../base/folder.ts'
import { sqliteCode, takeLock } from '../../store/sqlite/connection.ts'
import { chainIdOf } from '../start.ts'
import { statePathOf } from '../statePaths.ts'
import { UserError } from '../userError.ts'
import { genesisKeys } from '../testnet/homes.ts'
import { DEVNET_ACCOUNTS, DEVNET_CHAIN_ID } from './genesis.ts'

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
// A socket's path has at most 107 bytes on Linux, 103 on macOS.
const SOCKET_PATH_MAX = 103

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
  makeFolder(home)
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

/**
 * The address of the ABCI socket: in the home, or where that path is too long for a socket, in the system's folder for
 * such files.
 */
export function abciAddressOf(home: string): string {
  const inside = join(home, 'abci.sock')
  if (utf8(inside).length <= SOCKET_PATH_MAX) return `unix://${inside}`
  return `unix://${join(tmpdir(), `svcd-${toHex(sha256(utf8(home))).slice(0, 16)}.sock`)}`
}
