import type { QueryParamsResult, QueryValidatorSetResult, QueryValidatorsResult } from '../../../client/index.ts'
import { parseRatio, printRatio } from '../../../base/amount.ts'
import type { Tone } from '../../parts/text.tsx'

/** A validator or candidate, as the chain lists it. */
export type Validator = QueryValidatorsResult['data'][number]

type Member = QueryValidatorSetResult['data'][number]

/** Where a candidacy stands. `joining`: its key is in the set, but has not signed a block yet. */
export type Status = 'validator' | 'joining' | 'candidate' | 'inactive' | 'withdrawn'

/** How a status is written. */
export const STATUS_WORDS: Readonly<Record<Status, { readonly word: string; readonly tone: Tone }>> = {
  validator: { word: 'Validator', tone: 'good' },
  joining: { word: 'Joining', tone: 'waiting' },
  candidate: { word: 'Candidate', tone: 'plain' },
  inactive: { word: 'Inactive', tone: 'bad' },
  withdrawn: { word: 'Withdrawn', tone: 'plain' },
}

/** A candidacy and what it counts for now. */
export interface Candidacy {
  readonly validator: Validator
  readonly status: Status
  /** What CometBFT was told for its keys: 1 while a key has not signed yet, 0 outside the set. */
  readonly power: number
}

function statusOf({ state, active, pub_key: { value: key } }: Validator, members: readonly Member[]): Status {
  if (state === 'Withdrawn') return 'withdrawn'
  if (members.some(({ pub_key, proven }) => pub_key.value === key && !proven)) return 'joining'
  if (active === 'N') return 'inactive'
  return state === 'Validator' ? 'validator' : 'candidate'
}

const NONE: readonly Member[] = []

/** Each candidacy with its members of the set. One that changes its key has two: the old key's and the new one's. */
export function withMembers(validators: readonly Validator[], set: readonly Member[]): readonly Candidacy[] {
  const byOwner = Map.groupBy(set, ({ owner_address: owner }) => owner)
  return validators.map((validator) => {
    const members = byOwner.get(validator.owner_address) ?? NONE
    return { validator, status: statusOf(validator, members), power: totalPower(members) }
  })
}

/** The voting power of these members of the set. */
export const totalPower = (members: readonly { readonly power: number }[]): number =>
  members.reduce((sum, { power }) => sum + power, 0)

/** The system parameters. */
export type Params = QueryParamsResult['data']

/** A ratio in per cent: `12.5 %`. */
export const formatRatio = (ratio: string): string => `${printRatio((parseRatio(ratio) ?? 0n) * 100n)} %`
