import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { show } from '../../base/json.ts'
import { isLoopback } from '../../base/loopback.ts'

const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$/

/** True for a host as a Host header may have it, with a port or without one. */
export const isHost = (text: string): boolean => HOST.test(text)

/** Which requests the gateway answers. */
export interface GuardOptions {
  /** The address that it listens on. */
  readonly host: string
  /**
   * Names that a Host header may have beside localhost, loopback addresses and `host`; with any, no other name passes,
   * on any address.
   */
  readonly allowHosts: readonly string[]
  /**
   * Origins (`https://wallet.example`) whose pages may call; `loopback` is every origin on a loopback address, and `*`
   * is every one.
   */
  readonly allowOrigins: readonly string[]
}

const isLoopbackOrigin = (origin: string): boolean => {
  const [, host = ''] = /^https?:\/\/(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?$/.exec(origin) ?? []
  return isLoopback(host)
}

/**
 * Returns why a request is refused, or undefined when it may pass. A gateway on loopback answers only to names that lead
 * there: a page that points its own name at 127.0.0.1 (DNS rebinding) still sends that name in Host. With `allowHosts`
 * the same holds on every address. A page of another origin is refused unless allowed.
 */
export function refusedOrigin(
  { host, allowHosts, allowOrigins }: GuardOptions,
  request: Pick<IncomingHttpHeaders, 'host' | 'origin'>,
): string | undefined {
  const name = HOST.exec(request.host ?? '')?.[1]?.toLowerCase()
  if (name === undefined) return 'the Host header is missing or malformed'
  const guarded = isLoopback(host) || allowHosts.length > 0
  const known = isLoopback(name) || [host, `[${host}]`, ...allowHosts].some((one) => one.toLowerCase() === name)
  if (guarded && !known) return 'this Host is not allowed'
  const { origin } = request
  if (origin === undefined || allowOrigins.includes('*') || allowOrigins.includes(origin)) return undefined
  if (allowOrigins.includes('loopback') && isLoopbackOrigin(origin)) return undefined
  // An equal Host proves that the page is ours only where Host is checked, or cannot be a name that leads elsewhere too.
  // Behind a proxy with TLS our pages have https.
  const isOurs = guarded || isLoopback(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0
  if (isOurs && /^https?:\/\/(.*)$/i.exec(origin)?.[1]?.toLowerCase() === request.host?.toLowerCase()) return undefined
  return `pages of the Origin ${show(origin)} are not allowed: --allow-origin names those that are`
}

/** The shortest token, in characters: nothing else keeps a network from the accounts. */
export const TOKEN_LENGTH_MIN = 16

/** The options are such that no gateway may be started with them. `message` is one line for people. */
export class GatewayStartError extends Error {
  override readonly name = 'GatewayStartError'
}

interface SigningRule {
  readonly accounts: number
  readonly authToken: string | undefined
  /** True when anybody has the accounts' keys anyway, as those of a devnet. */
  readonly publicKeys: boolean
}

/**
 * Throws a GatewayStartError for a gateway that would sign for whoever reaches it: without a token that is, on
 * loopback, every user of the machine and every program that any of them runs.
 */
export function checkSigning({ accounts, authToken, publicKeys }: SigningRule): void {
  if (authToken !== undefined && !new RegExp(`^[\\x21-\\x7e]{${TOKEN_LENGTH_MIN},}$`).test(authToken)) {
    throw new GatewayStartError(
      `the token: expected at least ${TOKEN_LENGTH_MIN} printable ASCII characters without spaces`,
    )
  }
  if (accounts === 0 || publicKeys || authToken !== undefined) return
  throw new GatewayStartError(
    'whoever reaches the gateway could spend the unlocked accounts, on a loopback address too: give it a token ' +
      `of ${TOKEN_LENGTH_MIN} characters or more (--auth-token-file FILE), or leave out --unlock`,
  )
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** True for `Authorization: Bearer <token>`, and for everybody when there is no token. Takes the same time for any input. */
export function mayAskToSign(authToken: string | undefined, authorization: string | undefined): boolean {
  if (authToken === undefined) return true
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return timingSafeEqual(digest(given ?? ''), digest(authToken))
}
