import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { listenError } from '../comet/ports.ts'
import { OS_NAMES } from '../modules/governance/library.ts'
import { UserError } from './userError.ts'

/** Where a server listens. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** `HOST:PORT`; an IPv6 host in brackets. Throws a UserError that names the flag. */
export function parseEndpoint(text: string, flag: string): Endpoint {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new UserError(`${flag}: expected HOST:PORT with a port of 1 to 65535, got ${JSON.stringify(text)}`)
  }
  return { host, port: Number(port) }
}

/** `HOST:PORT` as it stands in an address. */
export const printEndpoint = ({ host, port }: Endpoint): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** The ms of a time such as `300ms` or `1s`; NaN when it is none. */
function msOf(text: string): number {
  const [, digits, unit] = /^(\d{1,6})(ms|s)$/.exec(text) ?? []
  return Number(digits) * (unit === 's' ? 1000 : 1)
}

/** A time such as `300ms` or `1s`, in ms, of 10 ms to 10 minutes. */
export function parseBlockTime(text: string): number {
  const ms = msOf(text)
  if (ms >= 10 && ms <= 600_000) return ms
  throw new UserError(`--block-time: expected a time of 10ms to 600s such as 300ms or 1s, got ${JSON.stringify(text)}`)
}

/** A time such as `30s`, in ms, of 1 s to a day; `0` is never. */
export function parseStalledAfter(text: string): number {
  const ms = msOf(text)
  if (text === '0') return 0
  if (ms >= 1000 && ms <= 86_400_000) return ms
  throw new UserError(
    `--stalled-after: expected a time of 1s to 86400s such as 30s, or 0 for never, got ${JSON.stringify(text)}`,
  )
}

/** A whole number within its bounds. Throws a UserError that names the flag. */
export function parseWhole(text: string, flag: string, [low, high]: readonly [number, number]): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= low && Number(text) <= high) return Number(text)
  throw new UserError(`${flag}: expected a whole number of ${low} to ${high}, got ${JSON.stringify(text)}`)
}

/** An address, or a network such as 10.0.0.0/8. Throws a UserError that names the flag. */
export function parseNetwork(text: string, flag: string): string {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family !== 0 && Number(bits ?? 0) <= (family === 4 ? 32 : 128)) return text
  throw new UserError(
    `${flag}: expected an address or a network such as 10.0.0.5 or 10.0.0.0/8, got ${JSON.stringify(text)}`,
  )
}

/** A program version, 1 to 999,999. */
export function parseProgramVersion(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new UserError(`--accept-program-version: expected a number of 1 to 999999, got ${JSON.stringify(text)}`)
}

/** One of the OS names that fileUrl knows. */
export function parseOs(text: string): string {
  if (!OS_NAMES.includes(text))
    throw new UserError(`--os: expected ${OS_NAMES.join(' or ')}, got ${JSON.stringify(text)}`)
  return text
}

/** The home folder, absolute. */
export const homeOf = (text: string | undefined): string => resolve(text ?? join(homedir(), '.svcd'))

/** The OS of /etc/os-release when it is one that fileUrl knows. */
export function machineOs(path = '/etc/os-release'): string | undefined {
  const id = existsSync(path) ? /^ID="?([a-z]+)"?$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined
  return id !== undefined && OS_NAMES.includes(id) ? id : undefined
}

/** Throws a UserError when something listens there already: better now than after the chain has started. */
export async function assertFree({ host, port }: Endpoint, what: string, flag: string): Promise<void> {
  const error = await listenError(host, port)
  if (error === undefined) return
  throw new UserError(
    error.code === 'EADDRINUSE'
      ? `port ${port} (${what}) is in use: does another devnet run? Choose another with ${flag} HOST:PORT`
      : `cannot listen on ${host}:${port} (${what}): ${error.message}; choose another with ${flag} HOST:PORT`,
  )
}
