/** What a signature is over. */
export interface Signed {
  readonly bodyBytes: Uint8Array
  /** The EIP-712 digest of the body, computed when it is first asked for; undefined for a body that has none. */
  digest(): Uint8Array | undefined
}
