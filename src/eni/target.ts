import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type AllowList, refusalOf } from './policy.ts'

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
