import type { QueryAbsencesResult, QueryParamsResult } from '../../../client/index.ts'
import { maxOf, ONE, parseRatio, TOKEN } from '../../../base/amount.ts'
import type { Candidate, Member } from '../../data/validators.ts'
import { formatRatio, formatShare } from '../../format.ts'
import type { Tone } from '../../parts/text.tsx'

type Absence = QueryAbsencesResult['data'][number]

/** Where a candidacy stands. `joining`: its key is in the set, but has not signed a block yet. */
export type Status = 'validator' | 'joining' | 'candidate' | 'inactive' | 'withdrawn'

export const STATUS_WORDS: Readonly<Record<Status, { readonly word: string; readonly tone: Tone }>> = {
  validator: { word: 'Validator', tone: 'good' },
  joining: { word: 'Joining', tone: 'waiting' },
  candidate: { word: 'Candidate', tone: 'plain' },
  inactive: { word: 'Inactive', tone: 'bad' },
  withdrawn: { word: 'Withdrawn', tone: 'plain' },
}

/** A candidacy and what it counts for now. */
export interface Candidacy {
  readonly validator: Candidate
  readonly status: Status
  /** What CometBFT was told for its keys: 1 while a key has not signed yet, 0 outside the set. */
  readonly power: number
  /** How many keys of it are in the set. */
  readonly keys: number
  /** How many blocks in a row it has not signed until now. */
  readonly absent: number
}

function statusOf({ state, active, pub_key: { value: key } }: Candidate, members: readonly Member[]): Status {
  if (state === 'Withdrawn') return 'withdrawn'
  if (members.some(({ pub_key, proven }) => pub_key.value === key && !proven)) return 'joining'
  if (active === 'N') return 'inactive'
  return state === 'Validator' ? 'validator' : 'candidate'
}

/** Each candidacy with its members of the set. One that changes its key has two: the old key's and the new one's. */
export function withMembers(
  validators: readonly Candidate[],
  set: readonly Member[],
  absences: readonly Absence[],
): readonly Candidacy[] {
  const byOwner = Map.groupBy(set, ({ owner_address: owner }) => owner)
  const counts = new Map(absences.map(({ owner_address: owner, absent_blocks: count }) => [owner, count]))
  return validators.map((validator) => {
    const members = byOwner.get(validator.owner_address) ?? []
    const absent = counts.get(validator.owner_address) ?? 0
    return {
      validator,
      status: statusOf(validator, members),
      power: totalPower(members),
      keys: members.length,
      absent,
    }
  })
}

export const totalPower = (members: readonly { readonly power: number }[]): number =>
  members.reduce((sum, { power }) => sum + power, 0)

export type Params = QueryParamsResult['data']

/** What can still be staked with a candidacy, in base units. */
export const roomOf = ({ max_shares: max, shares }: Candidate): bigint => maxOf(0n, BigInt(max) - BigInt(shares))

/** True for a candidacy with which others can stake: it is live, and has room for the least that one can stake. */
export const takesStakes = ({ validator, status }: Candidacy): boolean =>
  status !== 'withdrawn' && roomOf(validator) >= TOKEN

/** What the awards of a year are made from. */
export interface Inflation {
  /** Base units. */
  readonly supply: bigint
  /** Per cent of the supply that a year awards. */
  readonly rate: number
  /** The voting power of the set, among which they are spread. */
  readonly power: number
}

/**
 * What a year brings to those who stake with a candidacy, for all that is staked with it: [part, whole]. It counts with
 * today's power, so that it is 0 outside the set, and less where `stake_limit` counts only some of the shares.
 */
function yearlyReturn({ validator, power }: Candidacy, { supply, rate, power: total }: Inflation) {
  const kept = parseRatio(validator.comp_rate) ?? 0n
  const part = BigInt(rate) * supply * BigInt(power) * (ONE - kept)
  return [part, 100n * BigInt(total) * BigInt(validator.shares) * ONE] as const
}

/** The return of a year in millionths, to sort by. */
export function returnOf(candidacy: Candidacy, inflation: Inflation): bigint {
  const [part, whole] = yearlyReturn(candidacy, inflation)
  return whole === 0n ? 0n : (part * 1_000_000n) / whole
}

/** The return of a year in per cent: `8.13 %`; a dash where there is none now. */
export function formatReturn(candidacy: Candidacy, inflation: Inflation): string {
  const [part, whole] = yearlyReturn(candidacy, inflation)
  return part === 0n || whole === 0n ? '–' : formatShare(part, whole)
}

/** What becomes of the awards of a stake: `keeps 50 % of what your stake earns`. */
export const commissionWords = (rate: string): string =>
  (parseRatio(rate) ?? 0n) === 0n
    ? 'keeps nothing of what your stake earns'
    : `keeps ${formatRatio(rate)} of what your stake earns`
