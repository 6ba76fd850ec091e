import { type Amount, divFloor, maxOf, minOf, TOKEN } from '../../base/amount.ts'
import { shareFloor } from '../../base/ratio.ts'
import type { StateReader } from '../../store/state.ts'
import type { Params } from '../params/definitions.ts'
import { listEligible } from './keeper.ts'
import { type Candidacy, isEligible } from './tables.ts'

/** The validator set that the rows make, and the most voting power that one candidacy has with it. */
export interface NewSet {
  readonly members: readonly Candidacy[]
  /** Whole tokens. 0 when no candidacy is eligible. */
  readonly powerCap: number
}

/** Whole tokens of an amount: voting power before the cap. */
const tokensOf = (shares: Amount): number => Number(divFloor(shares, TOKEN))

/**
 * The first max_vals eligible candidacies, and cap = max(stake_limit × T, T / m) in whole tokens: none counts for more than the
 * limit, nor, in a set too small for it, for more than an equal part. Bound: max_vals rows. Source: protocol.md §4.1, §4.2.
 */
export function makeSet(state: StateReader, params: Pick<Params, 'maxVals' | 'stakeLimit'>): NewSet {
  const members: Candidacy[] = []
  for (const candidacy of listEligible(state)) {
    members.push(candidacy)
    if (members.length === params.maxVals) break
  }
  if (members.length === 0) return { members, powerCap: 0 }
  const total = members.reduce((sum, { shares }) => sum + shares, 0n)
  const cap = maxOf(shareFloor(total, params.stakeLimit), divFloor(total, BigInt(members.length)))
  return { members, powerCap: tokensOf(cap) }
}

/** floor(min(shares, cap) / 1 token) for an eligible candidacy, in the set or not; 0 for every other. Source: protocol.md §4.2. */
export function votingPower(candidacy: Candidacy, powerCap: number): number {
  return isEligible(candidacy) ? Number(minOf(divFloor(candidacy.shares, TOKEN), BigInt(powerCap))) : 0
}
