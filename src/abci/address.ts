import type { ListenOptions } from 'node:net'
import { isLoopback } from '../base/loopback.ts'
import { abciError } from './frame.ts'

/** What `unix:///path` or `tcp://host:port`, with an IPv6 host in brackets, means to Node; undefined for any other text. */
export function parseAddress(address: string): ListenOptions | undefined {
  const unix = /^unix:\/\/(.+)$/.exec(address)
  if (unix !== null) return { path: unix[1] as string }
  const tcp = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^:/[\]\s]+)):(\d{1,5})$/.exec(address)
  const port = Number(tcp?.[3])
  return tcp === null || port > 65_535 ? undefined : { host: (tcp[1] ?? tcp[2]) as string, port }
}

/** The same, for an address that is needed. Throws an error whose `code` is `address`. */
export function needAddress(address: string): ListenOptions {
  const parsed = parseAddress(address)
  if (parsed !== undefined) return parsed
  throw abciError('address', `not an ABCI address: ${address}; expected unix:///path or tcp://host:port`)
}

/**
 * True for an address that only this machine can connect to: a unix socket, localhost or a loopback address.
 * @example isLocalAddress('tcp://0.0.0.0:26658') // false
 */
export function isLocalAddress(address: string): boolean {
  const { path, host } = parseAddress(address) ?? {}
  return path !== undefined || isLoopback(host ?? '')
}
