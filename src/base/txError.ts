/**
 * What an account lacks for a transaction, in base units as decimal text.
 *
 * @example
 * const shortfall: Shortfall | null = await svc.async.getShortfall(hash)
 * if (shortfall !== null) console.log(`needed ${Svc.toTokens(shortfall.needed)}, there ${Svc.toTokens(shortfall.available)}`)
 */
export interface Shortfall {
  /** The account whose balance is too low. */
  readonly account: string
  /** What the transaction takes from that account, with the fee in it. */
  readonly needed: string
  readonly fee: string
  /** The balance. */
  readonly available: string
}

/**
 * How a transaction fails: the code and the exact log. Codes (protocol.md §2): 1 candidacy rule, 2 encoding, 3
 * unauthorized, 4 unknown request, 5 unknown address, 6 bad nonce, 20 invalid input, 21 bad request, 1000 a defect.
 */
export interface TxError {
  readonly code: number
  readonly log: string
  /** Said beside the log where a balance is too low. It is no part of consensus. */
  readonly shortfall?: Shortfall | undefined
}

/** One error of a catalogue: what a transaction fails with, and which document says so. */
export interface CatalogueError extends TxError {
  readonly source: string
}

type Entry = readonly [code: number, log: string | ((...given: never[]) => string), source: string]

/**
 * The errors of one module by name, from code, log and source; a log that holds what was given is a function of it.
 * Logs are part of the protocol, misspelt ones of the interface too: a published one never changes.
 */
export function catalogue<const E extends Readonly<Record<string, Entry>>>(errors: E) {
  const entries = Object.entries(errors).map(([name, [code, log, source]]) => {
    if (typeof log === 'string') return [name, Object.freeze({ code, log, source })]
    return [name, (...given: never[]): CatalogueError => ({ code, log: log(...given), source })]
  })
  return Object.freeze(Object.fromEntries(entries)) as {
    readonly [N in keyof E]: E[N][1] extends (...given: infer G) => string
      ? (...given: G) => CatalogueError
      : CatalogueError
  }
}

/** Check 5: a member is malformed or too long. `why` names it, the limit and what was given. Source: protocol.md §2. */
export const invalidParameter = (why: string): TxError => ({ code: 20, log: `Invalid parameter: ${why}` })
