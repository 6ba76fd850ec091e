import type { QueryParamsResult, QueryProposalResult, QueryValidatorResult } from '../../client/index.ts'

/** What of the chain a request is shown with, beside the parameters. */
export interface Needs {
  /** The max_shares of a candidacy that names none. */
  readonly defaultMaxAmount?: boolean
  /** The candidacy of who signs. */
  readonly candidacy?: boolean
  /** A proposal, by its id. */
  readonly proposal?: string
  /** The candidacy that is handed over, by the number of the request. */
  readonly handOver?: number
}

/** What the chain says, when a request is reviewed, of the things that it names. Amounts in base units. */
export interface Facts {
  /** The account that signs. */
  readonly from: string
  readonly params: QueryParamsResult['data']
  /** The max_shares of a candidacy that names none. */
  readonly defaultMaxAmount: bigint
  /** The record of `from`, with what of it still unbonds. */
  readonly candidacy:
    | { readonly record: NonNullable<QueryValidatorResult['data']>; readonly unbonding: bigint }
    | undefined
  /** The proposal that is voted on. */
  readonly proposal: NonNullable<QueryProposalResult['data']> | undefined
  /** What the candidacy holds that is handed over, and who holds it. */
  readonly handOver: { readonly owner: string; readonly shares: bigint } | undefined
}
