import type {
  QueryParamsResult,
  QueryProposalResult,
  QueryStakeResult,
  QueryValidatorResult,
} from '../../client/index.ts'

/** Whose the shares of a candidacy are, and its commission. */
export type Stake = NonNullable<QueryStakeResult['data']>

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
  /** The record of `from`, whose its shares are, and what of the owner's still unbonds. */
  readonly candidacy:
    | { readonly record: NonNullable<QueryValidatorResult['data']>; readonly stake: Stake; readonly unbonding: bigint }
    | undefined
  /** The proposal that is voted on. */
  readonly proposal: NonNullable<QueryProposalResult['data']> | undefined
  /** The candidacy that is handed over: who has it, and whose its shares are. */
  readonly handOver: { readonly owner: string; readonly stake: Stake } | undefined
}
