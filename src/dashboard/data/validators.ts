import type { QueryValidatorSetResult, QueryValidatorsResult } from '../../client/index.ts'
import { svc } from './gateway.ts'
import { type Answer, useAnswer } from './useAnswer.ts'

/** A validator or candidate. */
export type Candidate = QueryValidatorsResult['data'][number]

/** A member of the validator set. */
export type Member = QueryValidatorSetResult['data'][number]

/** All validators and candidates in rank order, as they were when the view was opened. */
export function useCandidates(): Answer<readonly Candidate[]> {
  return useAnswer('candidates', async () => (await svc.async.stake.validator.list()).data, 'onReturn')
}

/** The name that an owner has given its candidacy; empty where there is none. */
export const nameOf = (candidates: readonly Candidate[] | undefined, owner: string): string =>
  candidates?.find((one) => one.owner_address === owner)?.description.name.trim() ?? ''
