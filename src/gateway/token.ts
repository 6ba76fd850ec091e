import { createHash, timingSafeEqual } from 'node:crypto'
import { isLoopback } from './guard.ts'

/** Fewest characters of a token: it is all that stands between a network and the accounts. */
export const TOKEN_LENGTH_MIN = 16

/** Options that no gateway is started with. `message` is one line for people. */
export class GatewayStartError extends Error {
  override readonly name = 'GatewayStartError'
}

/** Who may have the gateway sign. */
export interface SigningRule {
  readonly host: string
  /** How many accounts it signs for. */
  readonly accounts: number
  readonly authToken: string | undefined
  /** True when anybody has the accounts' keys anyway, as those of a devnet. */
  readonly publicKeys: boolean
}

/**
 * Throws a GatewayStartError for a gateway that would sign for whoever reaches it from another machine: an address that is not loopback
 * needs a token.
 */
export function checkSigning({ host, accounts, authToken, publicKeys }: SigningRule): void {
  if (authToken !== undefined && !new RegExp(`^[\\x21-\\x7e]{${TOKEN_LENGTH_MIN},}$`).test(authToken)) {
    throw new GatewayStartError(`the token: expected at least ${TOKEN_LENGTH_MIN} printable ASCII characters without spaces`)
  }
  if (accounts === 0 || publicKeys || authToken !== undefined || isLoopback(host.toLowerCase())) return
  throw new GatewayStartError(`${host} is not a loopback address: whoever reaches it could spend the unlocked accounts; `
    + 'set a token (--auth-token-file), listen on 127.0.0.1, or unlock none')
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** True for `Authorization: Bearer <token>`. Without a token everybody may. Takes the same time whatever is given. */
export function mayAskToSign(authToken: string | undefined, authorization: string | undefined): boolean {
  if (authToken === undefined) return true
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return timingSafeEqual(digest(given ?? ''), digest(authToken))
}
