import type { CommittedState } from './store.ts'
import type { Table } from './table.ts'
import { encodeProof } from './tree/proof.ts'

/** What a query of one row asks for: two members of ABCI's RequestQuery. */
export interface RowQuery {
  readonly prove?: boolean
  /** 0 for the newest state, which is the only one that is kept. */
  readonly height?: number
}

/** The answer to a query of one row, with the members of ABCI's ResponseQuery. */
export interface RowAnswer {
  readonly code: number
  readonly log: string
  /** The state key. */
  readonly key?: Uint8Array
  /** The bytes of the row, which `decode` of the table reads; empty where there is no row. */
  readonly value?: Uint8Array
  /** The height of the state. The app hash that the proof leads to is in the header of the block after it. */
  readonly height: number
  readonly proofOps?: { readonly ops: { readonly type: string; readonly key: Uint8Array; readonly data: Uint8Array }[] }
}

/**
 * Answers ABCI's Query with one row, and with the proof that the app hash covers it, or that there is none. An empty
 * state has no proofs. A height that is not the newest one is refused with code 1.
 *
 * @example
 * const response = queryRow(store, balances, { owner: 'alice' }, { prove: true })
 */
export function queryRow<K extends object, R extends K, I extends string>(
  state: CommittedState,
  table: Table<K, R, I>,
  key: K,
  { prove = false, height = 0 }: RowQuery,
): RowAnswer {
  const head = state.height()
  if (height !== 0 && height !== head)
    return { code: 1, log: `height: rows are kept at the head ${head} only, got ${height}`, height: head }
  const stateKey = table.keyOf(key)
  const row = state.get(table, key)
  const proof = prove ? state.prove(table, key) : undefined
  return {
    code: 0,
    log: '',
    key: stateKey,
    value: row === undefined ? new Uint8Array(0) : table.encode(row),
    height: head,
    ...(proof && { proofOps: { ops: [{ type: 'ics23:smt', key: stateKey, data: encodeProof(proof) }] } }),
  }
}
