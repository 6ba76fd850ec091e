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

const namesOf = new WeakMap<readonly Candidate[], ReadonlyMap<string, string>>()

/** The name that an owner has given its candidacy; empty where there is none. */
export function nameOf(candidates: readonly Candidate[] | undefined, owner: string): string {
  if (candidates === undefined) return ''
  const names =
    namesOf.get(candidates) ??
    new Map(candidates.map(({ owner_address: address, description: { name } }) => [address, name.trim()]))
  namesOf.set(candidates, names)
  return names.get(owner) ?? ''
}
