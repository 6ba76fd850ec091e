/** The header that a row was proven against, as the light client verified it. `hash` and `app_hash` upper-case hex. */
export interface VerifiedHeader {
  readonly chain_id: string
  readonly height: number
  /** RFC 3339, of the block: how old the answer is. */
  readonly time: string
  readonly hash: string
  readonly app_hash: string
}

/** A row of the state at the end of block `height`, proven by the app hash in the header after it. */
export interface VerifiedRow {
  readonly verified: true
  readonly height: number
  readonly header: VerifiedHeader
  readonly table: string
  /** Key and members as proto/svc/state.proto names them; null when it is proven that there is no such row. */
  readonly data: Readonly<Record<string, unknown>> | null
}
