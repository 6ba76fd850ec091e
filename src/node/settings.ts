import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { parseAddress } from '../abci/address.ts'
import { writeWhole } from '../base/writeWhole.ts'
import { isObject, parseJson } from '../base/json.ts'
import { OS_NAMES } from '../values/library.ts'
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

/** Reads the address of an application, `unix:///path` or `tcp://host:port`. Throws a UserError that names the flag. */
export function parseAbci(text: string, flag: string): string {
  if (parseAddress(text) !== undefined) return text
  throw new UserError(`${flag}: expected unix:///path or tcp://host:port, got ${JSON.stringify(text)}`)
}

/** Where programs of this machine reach a server that listens on `endpoint`, which may be every address. */
export const reachable = ({ host, port }: Endpoint): Endpoint => ({
  host: host.replace(/^(?:0\.0\.0\.0|::)$/, '127.0.0.1'),
  port,
})

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000 }

/** Reads a time such as `300ms` or `1s` in ms. Throws a UserError that names the flag unless it is within the limits. */
function parseTime(
  text: string,
  flag: string,
  [low, high]: readonly [number, number],
  expected: string,
  units = UNITS_MS,
): number {
  const [, digits, unit = ''] = /^(\d{1,6})([a-z]+)$/.exec(text) ?? []
  const ms = Object.hasOwn(units, unit) ? Number(digits) * Number(units[unit]) : Number.NaN
  if (ms >= low && ms <= high) return ms
  throw new UserError(`${flag}: expected a time from ${expected}, got ${JSON.stringify(text)}`)
}

/** Reads a block time, from 10 ms to 10 minutes, in ms. */
export const parseBlockTime = (text: string): number =>
  parseTime(text, '--block-time', [10, 600_000], '10ms to 600s, such as 300ms or 1s')

/** Reads the age of the last block from which a chain counts as stalled, from 1 s to a day, in ms; `0` means never. */
export const parseStalledAfter = (text: string): number =>
  text === '0' ? 0 : parseTime(text, '--stalled-after', [1000, 86_400_000], '1s to 86400s, such as 30s, or 0 for never')

/** The limits of a whole number, and whether 0 is accepted too. */
export type Limits = readonly [low: number, high: number, orZero?: boolean]

/** Checks a number that was `given` at `where`. Throws a UserError unless it is whole and within the limits. */
export function checkWhole(value: unknown, [low, high, orZero = false]: Limits, where: string, given = value): number {
  const isWhole = typeof value === 'number' && Number.isInteger(value)
  if (isWhole && ((value >= low && value <= high) || (orZero && value === 0))) return value
  const expected = `a whole number from ${low} to ${high}${orZero ? ', or 0' : ''}`
  throw new UserError(`${where}: expected ${expected}, got ${JSON.stringify(given)}`)
}

/** Returns a function that reads a whole number within the limits. It throws a UserError that names the flag. */
export const parseWhole =
  (limits: Limits) =>
  (text: string, flag: string): number =>
    checkWhole(/^\d{1,10}$/.test(text) ? Number(text) : undefined, limits, flag, text)

/** Returns a reader of one of these words. It throws a UserError that names the flag and the words. */
export const parseOneOf =
  <const Word extends string>(words: readonly Word[]) =>
  (text: string, flag: string): Word => {
    const found = words.find((word) => word === text)
    if (found !== undefined) return found
    throw new UserError(`${flag}: expected ${words.join(' or ')}, got ${JSON.stringify(text)}`)
  }

/** Reads the height of a block. Throws a UserError that names the flag. */
export function parseHeight(text: string, flag: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UserError(`${flag}: expected a whole number of 1 or more, got ${JSON.stringify(text)}`)
}

/** Reads a hash as CometBFT prints it, in upper-case hex. Throws a UserError that names the flag. */
export function parseHash(text: string, flag: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toUpperCase()
  throw new UserError(`${flag}: expected 64 hex digits, got ${JSON.stringify(text)}`)
}

/** Reads for how long headers are trusted, from 1 s to 168 h, in ms. */
export const parseTrustPeriod = (text: string): number =>
  parseTime(text, '--trust-period', [1000, 604_800_000], '1s to 168h, such as 90m or 12h', {
    ...UNITS_MS,
    m: 60_000,
    h: 3_600_000,
  })

/** Reads an IP address, or a network such as 10.0.0.0/8, which is not every address. Throws a UserError that names the flag. */
export function parseNetwork(text: string, flag: string): string {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  const length = Number(bits ?? 1)
  if (family !== 0 && length >= 1 && length <= (family === 4 ? 32 : 128)) return text
  throw new UserError(
    `${flag}: expected an IP address or a network, such as 10.0.0.5 or 10.0.0.0/8, got ${JSON.stringify(text)}`,
  )
}

/** Reads a name that a Host header may have, without its port. Throws a UserError that names the flag. */
export function parseHostName(text: string, flag: string): string {
  if (/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/.test(text)) return text
  throw new UserError(
    `${flag}: expected a host name, or an IP address, of IPv6 in brackets, without a port, got ${JSON.stringify(text)}`,
  )
}

/**
 * Reads an origin, and returns it as pages of it send it: without a slash at the end or the port of its scheme. Takes
 * `loopback`, `*`, and `null` and other schemes, which pages of files and of extensions send. Throws a UserError that names
 * the flag.
 */
export function parseOrigin(text: string, flag: string): string {
  const url = /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && url.href === `${url.origin}/`) return url.origin
  if (/^(?:\*|loopback|null|(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/]*)$/i.test(text)) return text
  throw new UserError(
    `${flag}: expected an origin such as https://wallet.example, loopback or *, got ${JSON.stringify(text)}`,
  )
}

/** Reads the name of an operating system for which libraries can be proposed. */
export const parseOs = (text: string): string => parseOneOf(OS_NAMES)(text, '--os')

/** The operating system of /etc/os-release, if libraries can be proposed for it. */
export function machineOs(path = '/etc/os-release'): string | undefined {
  const id = existsSync(path) ? /^ID="?([a-z]+)"?$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined
  return id !== undefined && OS_NAMES.includes(id) ? id : undefined
}

/** Every setting of `<home>/config/svcd.json`, with an example. Flags and SVCD_* variables override the file. */
const EXAMPLE = {
  eni: { os: 'ubuntu', allowAddresses: ['10.0.0.0/8'] },
  /** The gateway that commands call. */
  gateway: 'http://127.0.0.1:8545',
  /** The address of CometBFT's RPC. */
  node: 'http://127.0.0.1:26657',
  /** False when a gateway serves no web page. */
  page: true,
  /** The address of the light client that a gateway asks for its pages. */
  light: 'http://127.0.0.1:8888',
  /** The number of blocks from snapshot to snapshot, 0 for none, and how many snapshots are kept. */
  snapshots: { interval: 1000, keep: 2 },
  /** How many of the newest blocks CometBFT keeps; 0 keeps all. */
  pruning: { keepBlocks: 0 },
  /** The sender of transactions: an address or the name of a key. */
  from: 'alice',
  /** The program version that the application runs, when it is not the release's own. */
  acceptProgramVersion: 2,
  /** The own program version of the release that was told so. */
  acceptedBy: 1,
}

/** What may be given of something like `Example`. */
type Given<Example> = Example extends readonly (infer One)[]
  ? readonly One[]
  : Example extends object
    ? { readonly [Name in keyof Example]?: Given<Example[Name]> }
    : Example

/** The contents of the file. */
type SvcdConfig = Given<typeof EXAMPLE>

/** The names of the settings; those of a group stand behind its name, as in `eni.os`. */
const settingsIn = (config: object): readonly string[] =>
  Object.entries(config).flatMap(([name, value]) =>
    isObject(value) ? Object.keys(value).map((member) => `${name}.${member}`) : [name],
  )

const NAMES = settingsIn(EXAMPLE)

const fileOf = (home: string): string => join(home, 'config', 'svcd.json')

/** Reads the file; a missing one counts as empty. Throws a UserError that names it, also for a setting that there is not. */
export function readConfig(home: string): SvcdConfig {
  const path = fileOf(home)
  if (!existsSync(path)) return {}
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError(`${path}: cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  const config = parseJson(text)
  if (!isObject(config))
    throw new UserError(`${path}: expected a JSON object. Correct it, or remove it to use the defaults`)
  const unknown = settingsIn(config).find((name) => !NAMES.includes(name))
  if (unknown === undefined) return config as SvcdConfig
  throw new UserError(`${path}: ${unknown}: no such setting; expected ${NAMES.join(', ')}`)
}

/** Writes the file. */
export function writeConfig(home: string, config: SvcdConfig): void {
  writeWhole(fileOf(home), `${JSON.stringify(config, undefined, 2)}\n`)
}

/** The operating system that the file names, if any. Throws a UserError that names the setting. */
export function configuredOs(home: string): string | undefined {
  const os: unknown = readConfig(home).eni?.os
  return os === undefined ? undefined : parseOneOf(OS_NAMES)(os as string, 'config/svcd.json: eni.os')
}

/**
 * Chooses the operating system for which this node takes libraries: `given`, else the configured one, else that of the
 * machine. If that is neither ubuntu nor centos, ubuntu is written to the file, and `say` receives a line that says so.
 * Source: protocol.md §7.
 */
export function chooseOs(home: string, given: string | undefined, say: (line: string) => void): string {
  const chosen = given === undefined ? (configuredOs(home) ?? machineOs()) : parseOs(given)
  if (chosen !== undefined) return chosen
  const config = readConfig(home)
  writeConfig(home, { ...config, eni: { ...config.eni, os: 'ubuntu' } })
  say('this machine runs neither ubuntu nor centos, so libraries for ubuntu are used (eni.os in config/svcd.json)')
  return 'ubuntu'
}

/** Reads a switch from an SVCD_* variable: 1, true and yes turn it on. */
export const isOn = (text: string | undefined): boolean => /^(?:1|true|yes)$/i.test(text ?? '')
