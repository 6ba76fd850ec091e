import type { Tx } from '../envelope.ts'

/** What a signature is over. */
export interface Signed {
  readonly bodyBytes: Uint8Array
  /** The EIP-712 digest of the body, computed when it is first asked for; undefined for a body that has none. */
  digest(): Uint8Array | undefined
}

/** How one kind of account signs. Source: protocol.md §13. */
export interface SignerRules {
  /** True when the address of the signer is `from`, and every signature verifies: check 3. */
  isSigned(tx: Tx, signed: Signed): boolean
}
