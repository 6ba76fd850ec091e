import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Addresses that are not public, but that the operator allows the fetcher to call. */
export type AllowList = readonly Range[]

// The only IPv6 space that is assigned to the public. ipaddr.js also calls unassigned space `unicast`.
const PUBLIC_V6 = ipaddr.parseCIDR('2000::/3')

/**
 * Reads addresses and CIDR blocks such as 10.0.0.5, 10.0.0.0/8 or fd00::/8. IPv4 addresses must be written as four
 * decimal numbers. Throws an Error that names the bad entry.
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  return entries.map((entry) => {
    const [address = '', bits] = entry.split('/')
    if (ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)) {
      if (bits === undefined) {
        const one = ipaddr.parse(address)
        return [one, one.kind() === 'ipv4' ? 32 : 128]
      }
      if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
    }
    throw new Error(`expected an address or a block such as 10.0.0.5 or 10.0.0.0/8, got ${JSON.stringify(entry)}`)
  })
}

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, [block, bits]: Range): boolean =>
  address.kind() === block.kind() && address.match(block, bits)

const isOwn = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  Object.values(networkInterfaces())
    .flat()
    .some((own) => own !== undefined && ipaddr.parse(own.address).toNormalizedString() === address.toNormalizedString())

/**
 * Says why the fetcher must not call an address; undefined when it may, which holds for public addresses and those in
 * the allow list. An address that embeds an IPv4 address (v4-mapped, NAT64, 6to4, Teredo) is always refused. So is one
 * of this machine's own, because calls from inside bypass the firewall. Source: protocol.md §7, deploy_libeni.
 */
export function refusalOf(text: string, allowed: AllowList): string | undefined {
  if (!ipaddr.isValid(text)) return 'not an address'
  const address = ipaddr.parse(text)
  if (allowed.some((range) => isWithin(address, range))) return undefined
  const kind = address.range()
  if (kind !== 'unicast') return kind
  if (address.kind() === 'ipv6' && !isWithin(address, PUBLIC_V6)) return 'not public'
  return isOwn(address) ? 'of this machine' : undefined
}

/** Resolves a name to all of its addresses. */
export type Lookup = (host: string) => Promise<readonly LookupAddress[]>

/** The operating system's resolver. */
export const systemResolver: Lookup = (host) => systemLookup(host, { all: true })

/**
 * Reads a URL, which may be relative to another. Throws an Error of one line unless it is an http or https URL without
 * a user name and password: a proposal is public, and text before an @ can pass off one host as another.
 */
export function parseTarget(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new Error(`${JSON.stringify(text)} is not a URL`)
  const url = new URL(text, base?.href)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`expected an http or https URL, got ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw new Error('the URL must not hold a user name or password')
  return url
}

/**
 * Resolves the host of a URL to the addresses that may be called. The name is resolved only once, so that its address
 * cannot change between the check and the call. Throws an Error of one line when there is no such address.
 */
export async function addressesOf(url: URL, allowed: AllowList, lookup: Lookup): Promise<readonly LookupAddress[]> {
  // The URL parser has already turned every spelling of an IPv4 address into four decimal numbers.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(host)
  const found = family === 0 ? await lookup(host) : [{ address: host, family }]
  const callable = found.filter(({ address }) => refusalOf(address, allowed) === undefined)
  if (callable.length > 0) return callable
  const why = found.map(({ address }) => `${address} (${refusalOf(address, allowed)})`).join(', ')
  throw new Error(
    found.length === 0
      ? `${host} has no address`
      : `${host} leads to ${why}, which may not be called unless it is listed in eni.allowAddresses`,
  )
}
