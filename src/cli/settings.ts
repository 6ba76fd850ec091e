import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ensureFolder } from '../base/folder.ts'
import { tryPort } from '../comet/process.ts'
import { OS_NAMES } from '../modules/governance/library.ts'
import { SNAPSHOTS_LISTED_MAX } from '../store/snapshot/folder.ts'
import { UserError } from './errors.ts'

/** Where a server listens. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Reads `HOST:PORT`, with an IPv6 host in brackets. Throws a UserError that names the flag. */
export function parseEndpoint(text: string, flag: string): Endpoint {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new UserError(`${flag}: expected HOST:PORT with a port from 1 to 65535, got ${JSON.stringify(text)}`)
  }
  return { host, port: Number(port) }
}

/** Prints an endpoint as `HOST:PORT`. */
export const printEndpoint = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Where programs of this machine reach a server that listens on `endpoint`, which may be every address. */
export const reachable = ({ host, port }: Endpoint): Endpoint => ({
  host: host.replace(/^(?:0\.0\.0\.0|::)$/, '127.0.0.1'),
  port,
})

/** Reads a time such as `300ms` or `1s` in ms; NaN when it is not one. */
function msOf(text: string): number {
  const [, digits, unit] = /^(\d{1,6})(ms|s)$/.exec(text) ?? []
  return Number(digits) * (unit === 's' ? 1000 : 1)
}

/** Reads a block time such as `300ms` or `1s`, from 10 ms to 10 minutes, in ms. */
export function parseBlockTime(text: string): number {
  const ms = msOf(text)
  if (ms >= 10 && ms <= 600_000) return ms
  throw new UserError(
    `--block-time: expected a time from 10ms to 600s, such as 300ms or 1s, got ${JSON.stringify(text)}`,
  )
}

/** Reads a time such as `30s`, from 1 s to a day, in ms; `0` means never. */
export function parseStalledAfter(text: string): number {
  const ms = msOf(text)
  if (text === '0') return 0
  if (ms >= 1000 && ms <= 86_400_000) return ms
  throw new UserError(
    `--stalled-after: expected a time from 1s to 86400s, such as 30s, or 0 for never, got ${JSON.stringify(text)}`,
  )
}

/** Reads a whole number within its limits. Throws a UserError that names the flag. */
export function parseWhole(text: string, flag: string, [low, high]: readonly [number, number]): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= low && Number(text) <= high) return Number(text)
  throw new UserError(`${flag}: expected a whole number from ${low} to ${high}, got ${JSON.stringify(text)}`)
}

/** Reads an IP address, or a network such as 10.0.0.0/8. Throws a UserError that names the flag. */
export function parseNetwork(text: string, flag: string): string {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family !== 0 && Number(bits ?? 0) <= (family === 4 ? 32 : 128)) return text
  throw new UserError(
    `${flag}: expected an IP address or a network, such as 10.0.0.5 or 10.0.0.0/8, got ${JSON.stringify(text)}`,
  )
}

/** Reads a program version, 1 to 999,999. */
export function parseProgramVersion(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new UserError(`--accept-program-version: expected a whole number from 1 to 999999, got ${JSON.stringify(text)}`)
}

/** Reads the name of an operating system for which libraries can be proposed. */
export function parseOs(text: string): string {
  if (!OS_NAMES.includes(text))
    throw new UserError(`--os: expected ${OS_NAMES.join(' or ')}, got ${JSON.stringify(text)}`)
  return text
}

/** The absolute path of the home folder; by default ~/.svcd. */
export const homeOf = (text: string | undefined): string => resolve(text ?? join(homedir(), '.svcd'))

/** The operating system of /etc/os-release, if libraries can be proposed for it. */
export function machineOs(path = '/etc/os-release'): string | undefined {
  const id = existsSync(path) ? /^ID="?([a-z]+)"?$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined
  return id !== undefined && OS_NAMES.includes(id) ? id : undefined
}

/** Throws a UserError when the port is in use, so that a command finds out before it starts anything. */
export async function assertFree({ host, port }: Endpoint, what: string, flag: string): Promise<void> {
  await tryPort(host, port).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new UserError(
      code === 'EADDRINUSE'
        ? `port ${port} (${what}) is in use, perhaps by another devnet. Choose another one with ${flag} HOST:PORT`
        : `cannot listen on ${host}:${port} (${what}): ${message}. Choose another address with ${flag} HOST:PORT`,
    )
  })
}

/** The contents of `<home>/config/svcd.json`. Flags and SVCD_* variables override it. */
export interface SvcdConfig {
  readonly eni?: { readonly os?: string; readonly allowAddresses?: readonly string[] }
  /** The gateway that commands call. */
  readonly gateway?: string
  /** The address of CometBFT's RPC. */
  readonly node?: string
  /** The number of blocks from snapshot to snapshot, 0 for none, and how many snapshots are kept. */
  readonly snapshots?: { readonly interval?: number; readonly keep?: number }
  /** How many of the newest blocks CometBFT keeps; 0 keeps all. */
  readonly pruning?: { readonly keepBlocks?: number }
  /** The sender of transactions: an address or the name of a key. */
  readonly from?: string
}

const fileOf = (home: string): string => join(home, 'config', 'svcd.json')

/** Reads the file; a missing one counts as empty. Throws a UserError that names it. */
export function readConfig(home: string): SvcdConfig {
  const path = fileOf(home)
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SvcdConfig
  } catch {
    throw new UserError(`${path}: expected a JSON object`)
  }
}

/**
 * Chooses the operating system for which this node takes libraries: `given`, else the configured one, else that of the
 * machine. If that is neither ubuntu nor centos, ubuntu is written to the file, and `say` receives a line that says so.
 * Source: protocol.md §7.
 */
export function chooseOs(home: string, given: string | undefined, say: (line: string) => void): string {
  const config = readConfig(home)
  if (given !== undefined) return parseOs(given)
  if (config.eni?.os !== undefined) return parseOs(config.eni.os)
  const own = machineOs()
  if (own !== undefined) return own
  ensureFolder(dirname(fileOf(home)))
  writeFileSync(fileOf(home), `${JSON.stringify({ ...config, eni: { ...config.eni, os: 'ubuntu' } }, undefined, 2)}\n`)
  say('this machine runs neither ubuntu nor centos, so libraries for ubuntu are used (eni.os in config/svcd.json)')
  return 'ubuntu'
}

/** How `svcd start` is told, by flags or SVCD_* variables, which snapshots and blocks to keep. */
export interface RetentionFlags {
  readonly snapshotInterval?: string | undefined
  readonly snapshotKeep?: string | undefined
  readonly keepBlocks?: string | undefined
}

/** Which snapshots and blocks a node keeps. */
export interface Retention {
  /** A snapshot is made at each multiple of this height; 0 for none. */
  readonly interval: number
  readonly keep: number
  /** The least number of the newest blocks that are kept; 0 for all. */
  readonly keepBlocks: number
}

/**
 * At one block a second, 1,000 blocks take a quarter of an hour: a node that joins replays a few minutes of blocks, and
 * a state of a million accounts is written in a small part of that time. Two snapshots are kept, so that one that a
 * peer is loading is not removed.
 */
const DEFAULTS: Retention = { interval: 1000, keep: 2, keepBlocks: 0 }

const INTERVAL_MAX = 1_000_000
const KEEP_BLOCKS_MAX = 1_000_000_000

/**
 * Reads a whole number within its limits from the flag, else from the file; with `orNone` also 0. Throws a UserError
 * that names the flag or the file.
 */
function whole(
  [flag, text]: readonly [string, string | undefined],
  [member, held]: readonly [string, unknown],
  fallback: number,
  [low, high, orNone]: readonly [number, number, boolean],
): number {
  if (text === undefined && held === undefined) return fallback
  const value = text === undefined ? held : /^\d{1,10}$/.test(text) ? Number(text) : undefined
  if (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    ((value >= low && value <= high) || (orNone && value === 0))
  )
    return value
  const where = text === undefined ? `config/svcd.json: ${member}` : flag
  const expected = `a whole number from ${low} to ${high}${orNone ? ', or 0' : ''}`
  throw new UserError(`${where}: expected ${expected}, got ${JSON.stringify(text ?? held)}`)
}

/**
 * Chooses the retention of a node: from flags and SVCD_* variables, else `<home>/config/svcd.json`, else the defaults.
 */
export function chooseRetention(
  home: string,
  { snapshotInterval, snapshotKeep, keepBlocks }: RetentionFlags,
): Retention {
  const { snapshots, pruning } = readConfig(home)
  return {
    interval: whole(
      ['--snapshot-interval', snapshotInterval],
      ['snapshots.interval', snapshots?.interval],
      DEFAULTS.interval,
      [1, INTERVAL_MAX, true],
    ),
    keep: whole(['--snapshot-keep', snapshotKeep], ['snapshots.keep', snapshots?.keep], DEFAULTS.keep, [
      2,
      SNAPSHOTS_LISTED_MAX,
      false,
    ]),
    keepBlocks: whole(['--keep-blocks', keepBlocks], ['pruning.keepBlocks', pruning?.keepBlocks], DEFAULTS.keepBlocks, [
      2,
      KEEP_BLOCKS_MAX,
      true,
    ]),
  }
}

/** Reads a switch from an SVCD_* variable: 1, true and yes turn it on. */
export const isOn = (text: string | undefined): boolean => /^(?:1|true|yes)$/i.test(text ?? '')
