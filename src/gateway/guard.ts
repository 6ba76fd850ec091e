/** Whom the gateway answers. */
export interface GuardOptions {
  /** The address that it listens on. */
  readonly host: string
  /**
   * Names that a Host header may have beside localhost, loopback addresses and `host`; with any, no other name passes,
   * on any address.
   */
  readonly allowHosts: readonly string[]
  /** Origins (`https://wallet.example`) whose pages may call; `*` is every one. */
  readonly allowOrigins: readonly string[]
}

/** What a request says of where it comes from. */
export interface RequestOrigin {
  readonly host: string | undefined
  readonly origin: string | undefined
}

/** The host in a Host header, without its port; undefined when it is none. */
function hostOf(header: string | undefined): string | undefined {
  return /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$/.exec(header ?? '')?.[1]?.toLowerCase()
}

/** True for localhost and the loopback addresses, in lower case. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?)$/.test(host)

/**
 * Why a request is refused; undefined when it may pass. A gateway on loopback answers only to names that lead there: a
 * page that bends its own name to 127.0.0.1 (DNS rebinding) still sends its name in Host. With `allowHosts` the same
 * holds on every address. A page of another origin is refused unless allowed.
 */
export function refusedOrigin(
  { host, allowHosts, allowOrigins }: GuardOptions,
  request: RequestOrigin,
): string | undefined {
  const name = hostOf(request.host)
  if (name === undefined) return 'the Host header is missing or malformed'
  const guarded = isLoopback(host.toLowerCase()) || allowHosts.length > 0
  const known =
    isLoopback(name) || name === host.toLowerCase() || name === `[${host.toLowerCase()}]` || allowHosts.includes(name)
  if (guarded && !known) return 'this Host is not allowed'
  if (request.origin === undefined || allowOrigins.includes('*') || allowOrigins.includes(request.origin))
    return undefined
  // Only where Host is checked does an equal Host prove that the page is ours.
  if (guarded && request.origin.toLowerCase() === `http://${request.host?.toLowerCase() ?? ''}`) return undefined
  return 'this Origin is not allowed'
}
