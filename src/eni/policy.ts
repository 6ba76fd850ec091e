import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Addresses that an operator lets the fetcher call although they are not public ones. */
export type AllowList = readonly Range[]

// The only IPv6 space that is handed out to the public; ipaddr.js calls what nobody was ever given `unicast` too.
const PUBLIC_V6 = ipaddr.parseCIDR('2000::/3')

/**
 * The allow list of addresses and CIDR blocks such as 10.0.0.5, 10.0.0.0/8 or fd00::/8; of IPv4 only the form of four
 * decimal numbers. Errors: an Error that names the entry.
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
 * Why the fetcher must not call an address, or undefined when it may: only public ones and what the operator listed. An
 * address that holds an IPv4 one inside (v4-mapped, NAT64, 6to4, Teredo) is refused whatever it holds, and so is one of
 * this machine's own: from inside it leads past the firewall. Source: protocol.md §7, deploy_libeni.
 */
export function refusalOf(text: string, allowed: AllowList): string | undefined {
  if (!ipaddr.isValid(text)) return 'no address'
  const address = ipaddr.parse(text)
  if (allowed.some((range) => isWithin(address, range))) return undefined
  const kind = address.range()
  if (kind !== 'unicast') return kind
  if (address.kind() === 'ipv6' && !isWithin(address, PUBLIC_V6)) return 'not public'
  return isOwn(address) ? 'of this machine' : undefined
}

/** An address that a name stands for. */
export interface Resolved {
  readonly address: string
  readonly family: number
}

/** Every address of a name. */
export type Lookup = (host: string) => Promise<readonly Resolved[]>

/** What the system's own resolver says. */
export const systemResolver: Lookup = (host) => systemLookup(host, { all: true })

/**
 * The URL of a text, possibly relative to another. Errors: an Error of one line for what is no http or https URL, or
 * carries a user name or a password: a proposal is public, and what stands before an @ is a way to pass off one host as
 * another.
 */
export function parseTarget(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new Error(`no URL: ${text}`)
  const url = new URL(text, base?.href)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`neither http nor https: ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw new Error('a URL with a user name or password is not called')
  return url
}

/**
 * The addresses of a URL's host that may be called: asked for once, so that the name cannot change between the check
 * and the call. Errors: an Error of one line when the name has no address, or none that may be called.
 */
export async function addressesOf(url: URL, allowed: AllowList, lookup: Lookup): Promise<readonly Resolved[]> {
  // The URL parser has made dotted decimals of whatever form of an IPv4 address stood there.
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
