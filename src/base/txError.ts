/**
 * How a transaction fails: the code and the exact log. Codes (protocol.md §2): 1 candidacy rule, 2 encoding, 3
 * unauthorized, 4 unknown request, 5 unknown address, 6 bad nonce, 20 invalid input, 21 bad request, 1000 a defect.
 */
export interface TxError {
  readonly code: number
  readonly log: string
}

/** One error of a catalogue: what a transaction fails with, and which document says so. */
export interface CatalogueError extends TxError {
  readonly source: string
}

/**
 * The errors of one module by name. Logs are part of the protocol, misspelt ones of the interface too: a published one
 * never changes.
 */
export function catalogue<const Name extends string>(
  errors: Readonly<Record<Name, CatalogueError>>,
): Readonly<Record<Name, CatalogueError>> {
  return Object.freeze(errors)
}

/**
 * Check 5: a member is malformed or too long. `why` names the member, the limit and what was given. Source: protocol.md
 * §2.
 */
export function invalidParameter(why: string): TxError {
  return { code: 20, log: `Invalid parameter: ${why}` }
}
