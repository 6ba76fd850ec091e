import { createHash, timingSafeEqual } from 'node:crypto'

/** Fewest characters of a token: it is all that stands between a network and the accounts. */
export const TOKEN_LENGTH_MIN = 16

/** Options that no gateway is started with. `message` is one line for people. */
export class GatewayStartError extends Error {
  override readonly name = 'GatewayStartError'
}

/** Who may have the gateway sign. */
export interface SigningRule {
  /** How many accounts it signs for. */
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

/** True for `Authorization: Bearer <token>`. Without a token everybody may. Takes the same time whatever is given. */
export function mayAskToSign(authToken: string | undefined, authorization: string | undefined): boolean {
  if (authToken === undefined) return true
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return timingSafeEqual(digest(given ?? ''), digest(authToken))
}
