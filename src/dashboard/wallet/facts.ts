import type { QueryParamsResult, QueryProposalResult, QueryValidatorResult } from '../../client/index.ts'
import type { OperationInputs, OperationName } from '../../client/gen/forms.ts'

/** An operation with what it is given, as the wallet says it, counts its cost and signs it. */
export type Order = {
  readonly [O in OperationName]: { readonly operation: O; readonly input: OperationInputs[O] }
}[OperationName]

/** What the chain says, when an order is reviewed, of the things that the order names. Amounts in base units. */
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
