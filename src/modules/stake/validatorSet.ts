import { type Amount, divFloor, maxOf, minOf, type Ratio, shareFloor, TOKEN } from '../../base/amount.ts'
import { compareBytes } from '../../base/bytes.ts'
import type { PubKey } from '../../values/pubKey.ts'
import { type StateReader, take } from '../../store/state.ts'
import type { Params } from '../params/definitions.ts'
import { getLiveByPubKey, listEligible } from './keeper.ts'
import { candidacies, type Candidacy, isEligible, type SetMember } from './tables.ts'

/** The validator set that the rows make, and the most voting power that one candidacy has with it. */
export interface NewSet {
  /** By the bytes of their keys, each key once. */
  readonly members: readonly SetMember[]
  /** Whole tokens. 0 when no candidacy is eligible. */
  readonly powerCap: number
}

type SetParams = Pick<Params, 'maxVals' | 'stakeLimit'>

/**
 * The least voting power of a set that others can join. A genesis with less is refused, and the powers of a set that has
 * come to less are multiplied by it. Source: protocol.md §4, §4.4.
 */
export const SET_POWER_MIN = 3

/** Whole tokens of an amount: voting power before the cap. */
const tokensOf = (shares: Amount): number => Number(divFloor(shares, TOKEN))

/**
 * The cap of a set of these members, in whole tokens: max(stake_limit × T, T / m). It limits how many shares of a member
 * count, not the part of the power that a member has. Source: protocol.md §4.2.
 */
function capOf(members: readonly Pick<Candidacy, 'shares'>[], stakeLimit: Ratio): number {
  if (members.length === 0) return 0
  const total = members.reduce((sum, { shares }) => sum + shares, 0n)
  return tokensOf(maxOf(shareFloor(total, stakeLimit), divFloor(total, BigInt(members.length))))
}

/** The voting power of shares that count: floor(min(shares, cap) / 1 token). */
const powerOf = (shares: Amount, powerCap: number): number => Number(minOf(divFloor(shares, TOKEN), BigInt(powerCap)))

/** The power of an eligible candidacy, in the set or not; 0 for every other one. Source: protocol.md §4.2. */
export const votingPower = (candidacy: Candidacy, powerCap: number): number =>
  isEligible(candidacy) ? powerOf(candidacy.shares, powerCap) : 0

/** The power in all of a set of these candidacies, those of most shares first. Source: protocol.md §4, InitChain. */
export function powerInAll(inOrder: readonly Pick<Candidacy, 'shares'>[], { maxVals, stakeLimit }: SetParams): number {
  const counted = inOrder.slice(0, maxVals)
  const powerCap = capOf(counted, stakeLimit)
  return totalOf(counted.map(({ shares }) => ({ power: powerOf(shares, powerCap) })))
}

const totalOf = (members: readonly { readonly power: number }[]): number =>
  members.reduce((sum, { power }) => sum + power, 0)

const byKey = (a: SetMember, b: SetMember): number => (a.pubKey < b.pubKey ? -1 : 1)

const rankKey = (candidacy: Candidacy): Uint8Array => candidacies.indexes.byRank(candidacy) as Uint8Array

/** Sorts live candidacies as protocol.md §4.1 orders them. */
export const byRank = (a: Candidacy, b: Candidacy): number => compareBytes(rankKey(a), rankKey(b))

/** The first max_vals eligible candidacies. Bound: max_vals rows. Source: protocol.md §4.1. */
const firstEligible = (state: StateReader, maxVals: number): readonly Candidacy[] => take(listEligible(state), maxVals)

/**
 * The first max_vals eligible candidacies of proven keys. Whichever is not among `first`, the first max_vals of all, ranks
 * behind these; it is found by its key, so that no walk passes all candidacies.
 */
function provenCandidacies(
  state: StateReader,
  provenKeys: ReadonlySet<PubKey>,
  first: readonly Candidacy[],
  maxVals: number,
): readonly Candidacy[] {
  const firstKeys = new Set(first.map(({ pubKey }) => pubKey))
  const behind = [...provenKeys]
    .filter((key) => !firstKeys.has(key))
    .map((key) => getLiveByPubKey(state, key))
    .filter((candidacy) => candidacy !== undefined)
    .filter(isEligible)
    .sort(byRank)
  return [...first.filter(({ pubKey }) => provenKeys.has(pubKey)), ...behind].slice(0, maxVals)
}

/**
 * The set that the rows make, after `sent`, the set last sent. A key has the power of its shares once it has signed a
 * commit as a member of the set: it is proven. Before that it joins with power 1, and all that join together have less
 * than half of the power of the proven ones. Where no proven key belongs to an eligible candidacy, the proven members
 * stay as they are until somebody who joins has signed. So a key that no node holds never stops the chain. `hasSigned`
 * is true for a key whose signature in the last commit makes it proven. Bound: max_vals rows, and `sent`. Source:
 * protocol.md §4.1, §4.2, §4.4.
 */
export function nextSet(
  state: StateReader,
  sent: readonly SetMember[],
  { maxVals, stakeLimit }: SetParams,
  hasSigned: (key: PubKey) => boolean = () => false,
): NewSet {
  const proven = sent.filter((member) => member.proven || hasSigned(member.pubKey))
  const provenKeys = new Set(proven.map(({ pubKey }) => pubKey))
  const first = firstEligible(state, maxVals)
  const voting = provenCandidacies(state, provenKeys, first, maxVals)
  const powerCap = capOf(voting.length > 0 ? voting : first, stakeLimit)
  const powerful =
    voting.length > 0
      ? withRoomToJoin(voting.map((candidacy) => memberOf(candidacy, votingPower(candidacy, powerCap), true)))
      : proven.map((member) => ({ ...member, proven: true }))
  const joiningMax = Math.floor((totalOf(powerful) - 1) / 2)
  const joining = first.filter(({ pubKey }) => !provenKeys.has(pubKey)).slice(0, joiningMax)
  return { members: [...powerful, ...joining.map((candidacy) => memberOf(candidacy, 1, false))].sort(byKey), powerCap }
}

/** Members with these powers, or with three times these while they are below SET_POWER_MIN together. */
const withRoomToJoin = (members: readonly SetMember[]): readonly SetMember[] =>
  totalOf(members) >= SET_POWER_MIN
    ? members
    : members.map((member) => ({ ...member, power: member.power * SET_POWER_MIN }))

/** The set of a chain that begins: its keys count as proven. */
export function firstSet(state: StateReader, params: SetParams): NewSet {
  const proven = firstEligible(state, params.maxVals).map((candidacy) => memberOf(candidacy, 0, true))
  return nextSet(state, proven, params)
}

const memberOf = ({ pubKey, id }: Candidacy, power: number, proven: boolean): SetMember => ({
  pubKey,
  candidacyId: id,
  power,
  proven,
})
