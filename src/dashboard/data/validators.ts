import { fromBase64 } from '../../base/bytes.ts'
import type { QueryValidatorSetResult, QueryValidatorsResult } from '../../client/index.ts'
import { addressOfKey } from '../../values/address.ts'
import { svc } from './gateway.ts'
import { type Answer, useAnswer } from './useAnswer.ts'

/** A validator or candidate. */
export type Candidate = QueryValidatorsResult['data'][number]

export type Member = QueryValidatorSetResult['data'][number]

/** All validators and candidates in rank order, as they were when the view was opened. */
export function useCandidates(): Answer<readonly Candidate[]> {
  return useAnswer('candidates', async () => (await svc.async.stake.validator.list()).data, 'onReturn')
}

/** The validator set, read with each block. */
export const useValidatorSet = () => useAnswer('validatorSet', () => svc.async.stake.validator.queryValidatorSet())

/**
 * The address that CometBFT gives to a validator's key, as the gateway writes it; empty for what is no key. Blocks name
 * their proposer by it. Source: protocol.md §1.
 */
export function cometAddressOf(pubKey: string): string {
  const bytes = fromBase64(pubKey)
  return bytes === undefined ? '' : addressOfKey(bytes)
}

/** The name that an owner has given its candidacy; empty where there is none. */
export const nameOf = (candidates: readonly Candidate[] | undefined, owner: string): string =>
  candidates?.find((one) => one.owner_address === owner)?.description.name.trim() ?? ''
