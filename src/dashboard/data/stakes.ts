import type { QueryDelegatorResult } from '../../client/index.ts'
import { svc } from './gateway.ts'
import { type Answer, useAnswer } from './useAnswer.ts'

/** What an account has staked with one validator, and what of it unbonds. */
export type StakeOf = QueryDelegatorResult['data'][number]

/** The candidacy that an account owns, null when it has none; undefined until the answer is there. */
export const useCandidacy = (account: string) =>
  useAnswer(`candidacy/${account}`, () => svc.async.stake.validator.query(account)).data?.data

/** Stakes that are there: of an entry without a beginning only something unbonds. */
export const stakesIn = (all: readonly StakeOf[] | undefined): readonly StakeOf[] =>
  (all ?? []).filter(({ created_at: since }) => Boolean(since))

/** What an account has staked, by validator; nothing is asked while there is no account. */
export const useStakes = (account: string | undefined): Answer<readonly StakeOf[]> =>
  useAnswer(
    account === undefined ? undefined : `stakes/${account}`,
    async () => (await svc.async.stake.delegator.query(account ?? '')).data,
  )
