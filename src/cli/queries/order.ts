import type { QueryRequest, QueryResponse } from '../../abci/types.ts'

/** What the thread is started with: the state's database, and how long one answer may take. */
export interface ThreadOptions {
  readonly path: string
  readonly answerMsMax: number
}

/** Queries that the thread answers one after the other. */
export type Round = readonly QueryRequest[]

/** One answer, and what it cost: its bytes, and ROW_COST for each row that was read for it. */
export interface Answered {
  readonly response: QueryResponse
  readonly cost: number
}

/** What the thread tells: that it has begun, a round's answers in its order, or a defect that a path met. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answered'; readonly answers: readonly Answered[] }
  | { readonly kind: 'defect'; readonly path: string; readonly why: string }

/** What reading one row counts for, in bytes of an answer. */
export const ROW_COST = 512
