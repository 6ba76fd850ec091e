import { type Address, addressBytes, addressOfKey } from '../../values/address.ts'
import type { Amount, Ratio } from '../../base/amount.ts'
import { u64be } from '../../base/bytes.ts'
import { type PubKey, pubKeyBytes } from '../../values/pubKey.ts'
import { firstOf, type State, type StateReader, take } from '../../store/state.ts'
import type { RowOf } from '../../store/table.ts'
import { takeNumber } from '../chain/keeper.ts'
import type { Block } from '../define.ts'
import {
  absences,
  accountUpdates,
  candidacies,
  type Candidacy,
  ELIGIBLE,
  isEligible,
  type KeyPeriod,
  misbehaviours,
  NEWEST_PERIODS,
  newestPeriods,
  periodsOf,
  powerCap,
  powersOf,
  type SetMember,
  setMembers,
  type Unbonding,
  unbondings,
  validatorKeys,
  type VotingPowers,
  votingPowers,
} from './tables.ts'

/** One account update request. */
export type AccountUpdate = RowOf<typeof accountUpdates>

// Candidacies

/** The record of an address, live or withdrawn. */
export const getByOwner = (state: StateReader, owner: Address): Candidacy | undefined =>
  state.find(candidacies, 'byOwner', addressBytes(owner))

/** The candidacy of an address while it is live. */
export function getLiveByOwner(state: StateReader, owner: Address): Candidacy | undefined {
  const candidacy = getByOwner(state, owner)
  return candidacy?.withdrawn === false ? candidacy : undefined
}

/** The live candidacy of a key. */
export const getLiveByPubKey = (state: StateReader, key: PubKey): Candidacy | undefined =>
  state.find(candidacies, 'livePubKey', pubKeyBytes(key))

/** The candidacy of an id. */
export const getById = (state: StateReader, id: number): Candidacy | undefined => state.get(candidacies, { id })

/** Eligible candidacies in the order of protocol.md §4.1, read as they are asked for. Bound: the caller's. */
export const listEligible = (state: StateReader): Iterable<Candidacy> =>
  state.scan(candidacies, { index: 'byRank', prefix: ELIGIBLE })

/** All live candidacies in rank order, eligible ones first. Bound: all candidacies; for queries. */
export const listLive = (state: StateReader): Iterable<Candidacy> => state.scan(candidacies, { index: 'byRank' })

/** How many live candidacies rank above this one. Cost: grows with that number. */
export const countAbove = (state: StateReader, candidacy: Candidacy): number =>
  state.rank(candidacies, 'byRank', candidacy)

/** True when this is the key of an eligible candidacy. */
export function isEligibleKey(state: StateReader, key: PubKey): boolean {
  const candidacy = getLiveByPubKey(state, key)
  return candidacy !== undefined && isEligible(candidacy)
}

/**
 * The newest period of a key in CometBFT's set, by its first height; undefined when it has no row any more. Read from the
 * rows: strangers ask for any key, and each would take a place in memory.
 */
export const latestKeyPeriod = (state: StateReader, key: PubKey): KeyPeriod | undefined =>
  firstOf(state.scan(validatorKeys, { prefix: pubKeyBytes(key), reverse: true }))

/**
 * True while `sender` may not take a key over: a live candidacy has it, or it is held back, because its latest key period
 * belongs to a candidacy that is not the sender's. So nobody earns power with the signatures of another's node. Source:
 * protocol.md §3.
 */
export function isKeyTaken(state: StateReader, key: PubKey, sender: Address): boolean {
  if (getLiveByPubKey(state, key) !== undefined) return true
  const period = latestKeyPeriod(state, key)
  return period !== undefined && getById(state, period.candidacyId)?.ownerAddress !== sender
}

/** True when this candidacy is eligible and no other one is. Then absence may not remove it. */
export function isOnlyEligible(state: StateReader, candidacy: Candidacy): boolean {
  const [first, second] = take(listEligible(state), 2)
  return first?.id === candidacy.id && second === undefined
}

/** What a candidacy has while nobody delegates to it. */
const noPool = { delegated: 0n, delegationUnits: 0n, pool: 0, delegators: 0, nextCompRate: 0n, nextCompRateHeight: 0 }

/** What a new candidacy is given; its id, flags and updated_at follow. */
export type NewCandidacy = Omit<
  Candidacy,
  'id' | 'verified' | 'active' | 'withdrawn' | 'updatedAt' | keyof typeof noPool
>

/** Creates an active candidacy, to which nobody delegates, under the next id. */
export function createCandidacy(state: State, given: NewCandidacy): Candidacy {
  const candidacy = {
    ...given,
    id: takeNumber(state, 'nextCandidacyId'),
    verified: false,
    active: true,
    withdrawn: false,
    updatedAt: given.createdAt,
    ...noPool,
  }
  state.put(candidacies, candidacy)
  return candidacy
}

/** Changes a candidacy; updated_at becomes `time`, the block's in seconds. */
export function changeCandidacy(
  state: State,
  candidacy: Candidacy,
  changes: Partial<Omit<Candidacy, 'id' | 'updatedAt'>>,
  time: number,
): void {
  state.put(candidacies, { ...candidacy, ...changes, updatedAt: time })
}

/** Writes what an award or a delegator changes. No operation of the owner: updated_at stays. */
export function changeShares(
  state: State,
  candidacy: Candidacy,
  changes: Pick<Candidacy, 'shares'> & Partial<Pick<Candidacy, 'delegated' | 'delegationUnits' | 'delegators'>>,
): void {
  state.put(candidacies, { ...candidacy, ...changes })
}

/** The owner's part of the shares: what it has staked itself, with its awards. */
export const selfShares = ({ shares, delegated }: Pick<Candidacy, 'shares' | 'delegated'>): Amount => shares - delegated

/** The raise of comp_rate that waits at `height`, if one does. */
export const waitingRaise = (
  { nextCompRate: rate, nextCompRateHeight: from }: Candidacy,
  height: number,
): { readonly rate: Ratio; readonly from: number } | undefined => (from > height ? { rate, from } : undefined)

/** The comp_rate in force at a height: a raise is, from its height on. Source: protocol.md §12. */
export const compRateAt = ({ compRate, nextCompRate, nextCompRateHeight }: Candidacy, height: number): Ratio =>
  nextCompRateHeight !== 0 && nextCompRateHeight <= height ? nextCompRate : compRate

/**
 * The columns that a comp_rate given in `block` changes. A raise waits for unstake_wait_period while there are delegators,
 * so that whoever disagrees can leave first. Source: protocol.md §12.
 */
export function compRateChange(
  candidacy: Candidacy,
  given: Ratio,
  { height, params }: Block,
): Pick<Candidacy, 'compRate' | 'nextCompRate' | 'nextCompRateHeight'> {
  const inForce = compRateAt(candidacy, height)
  return candidacy.delegationUnits > 0n && given > inForce
    ? { compRate: inForce, nextCompRate: given, nextCompRateHeight: height + params.unstakeWaitPeriod }
    : { compRate: given, nextCompRate: 0n, nextCompRateHeight: 0 }
}

/** Drops the withdrawn record of an address, if any. Unbonding, votes and keys stay: they carry the candidacy's id. */
export function dropWithdrawn(state: State, owner: Address): void {
  const record = getByOwner(state, owner)
  if (record === undefined) return
  if (!record.withdrawn) throw new Error(`stake: the live candidacy of ${owner} would be replaced`)
  state.remove(candidacies, { id: record.id })
  clearAbsence(state, record.id)
}

/** Deactivates every active candidacy whose key is not listed. Unbounded, but once in a program's life. */
export function deactivateAllBut(state: State, preserved: ReadonlySet<PubKey>, time: number): void {
  for (const candidacy of listLive(state)) {
    if (candidacy.active && !preserved.has(candidacy.pubKey)) changeCandidacy(state, candidacy, { active: false }, time)
  }
}

// Unbonding

/** Unbonding entries of one candidacy, by number. Bound: entries made within one unbonding period. */
export const listUnbondings = (state: StateReader, candidacyId: number): readonly Unbonding[] => [
  ...state.scan(unbondings, { index: 'byCandidacy', prefix: u64be(candidacyId) }),
]

/** Unbonding entries that belong to an address, by number. Bound: as `listUnbondings`; for queries. */
export const listUnbondingsOf = (state: StateReader, owner: Address): Iterable<Unbonding> =>
  state.scan(unbondings, { index: 'byOwner', prefix: addressBytes(owner) })

/** Unbonding entries whose height is reached, by number. Bound: withdrawals of one block, or of one change of period. */
export const listDueUnbondings = (state: StateReader, height: number): readonly Unbonding[] =>
  [...state.scan(unbondings, { index: 'byHeightPaid', before: u64be(height + 1) })].sort((a, b) => a.number - b.number)

/** Base units on their way back to one candidacy's owner. */
export const pendingUnbonding = (state: StateReader, candidacyId: number): Amount =>
  listUnbondings(state, candidacyId).reduce((sum, entry) => sum + entry.amount, 0n)

/** Turns the owner's shares into one unbonding entry, which is paid out unstake_wait_period blocks later. */
export function startUnbonding(state: State, candidacy: Candidacy, block: Block): void {
  const { id, ownerAddress, pubKey } = candidacy
  state.put(unbondings, {
    number: takeNumber(state, 'nextUnbondingNumber'),
    candidacyId: id,
    ownerAddress,
    pubKey,
    amount: selfShares(candidacy),
    heightMade: block.height,
    heightPaid: block.height + block.params.unstakeWaitPeriod,
  })
}

/** Changes what an unbonding entry will pay. */
export function changeUnbonding(state: State, entry: Unbonding, amount: Amount): void {
  state.put(unbondings, { ...entry, amount })
}

/** Removes an unbonding entry: its amount is paid out, or is shares again. */
export function removeUnbonding(state: State, { number }: Unbonding): void {
  state.remove(unbondings, { number })
}

// Account updates

/** The account update request of an id. */
export const getAccountUpdate = (state: StateReader, id: number): AccountUpdate | undefined =>
  state.get(accountUpdates, { id })

/** The pending request of a candidacy. */
const pendingUpdateOf = (state: StateReader, candidacyId: number): AccountUpdate | undefined =>
  state.find(accountUpdates, 'pendingByCandidacy', u64be(candidacyId))

/**
 * The pending requests that an address made (one at most) or may accept, the newest first. Bound: live candidacies; for
 * queries.
 */
export function* listPendingUpdates(state: StateReader, account: Address): Iterable<AccountUpdate> {
  const own = getLiveByOwner(state, account)
  let made = own === undefined ? undefined : pendingUpdateOf(state, own.id)
  const prefix = addressBytes(account)
  for (const request of state.scan(accountUpdates, { index: 'pendingByTarget', prefix, reverse: true })) {
    if (made !== undefined && made.id > request.id) {
      yield made
      made = undefined
    }
    yield request
  }
  if (made !== undefined) yield made
}

/** Opens a request to bind the candidacy to another address, in place of its pending one; returns the request's id. */
export function requestAccountUpdate(state: State, { id: candidacyId, ownerAddress }: Candidacy, to: Address): number {
  closePendingUpdate(state, candidacyId, 'REPLACED')
  const id = takeNumber(state, 'nextRequestId')
  const request: AccountUpdate = { id, candidacyId, fromAddress: ownerAddress, toAddress: to, status: 'PENDING' }
  state.put(accountUpdates, request)
  return id
}

/** Ends the candidacy's pending account update, if it has one. */
export function closePendingUpdate(
  state: State,
  candidacyId: number,
  status: 'COMPLETED' | 'REPLACED' | 'CANCELLED',
): void {
  const pending = pendingUpdateOf(state, candidacyId)
  if (pending !== undefined) state.put(accountUpdates, { ...pending, status })
}

// Absence and misbehaviour

/** Counts one more commit in a row without the candidacy's signature; returns how many there are now. */
export function countAbsence(state: State, candidacyId: number): number {
  const count = absencesOf(state, candidacyId) + 1
  state.put(absences, { candidacyId, count })
  return count
}

/** How many commits in a row the candidacy has missed. */
export const absencesOf = (state: StateReader, candidacyId: number): number =>
  state.get(absences, { candidacyId })?.count ?? 0

/** The candidacy's next missed commit is the first in a row. */
export function clearAbsence(state: State, candidacyId: number): void {
  state.remove(absences, { candidacyId })
}

/** The block that last removed the candidacy for misbehaviour, if any did. */
export const lastMisbehaviour = (state: StateReader, candidacyId: number): number | undefined =>
  state.get(misbehaviours, { candidacyId })?.removedHeight

/** Records that the block at `height` removed the candidacy for misbehaviour. */
export function recordMisbehaviour(state: State, candidacyId: number, height: number): void {
  state.put(misbehaviours, { candidacyId, removedHeight: height })
}

// The validator set

/** The validator set as last sent, by the bytes of its keys. Bound: 2 · max_vals, at most 400. */
export const listSet = (state: StateReader): readonly SetMember[] => [...state.scan(setMembers)]

/** The voting powers of the validator set as last sent: the same object while the set is the same. */
export const getVotingPowers = (state: StateReader): VotingPowers =>
  state.get(votingPowers, {}) as RowOf<typeof votingPowers>

/** The members of the set as last sent that belong to this candidacy: two while a new key joins beside the old one. */
export const membersOf = (state: StateReader, candidacyId: number): readonly SetMember[] => [
  ...state.scan(setMembers, { index: 'byCandidacy', prefix: u64be(candidacyId) }),
]

/**
 * The candidacy id that a key's address belonged to at a height; undefined for a key that was not in the set then.
 * Source: protocol.md §3, validator_keys.
 */
export function candidacyIdAt(state: StateReader, validator: Address, height: number): number | undefined {
  const { periods } = state.get(newestPeriods, { validator }) as RowOf<typeof newestPeriods>
  const newest = periods.find(({ firstHeight }) => firstHeight <= height)
  // Evidence may be about an older one. It may come with any int64 as its height.
  const isInRows = height > 0 && periods.length === NEWEST_PERIODS
  const period = newest ?? (isInRows ? firstOf(periodsOf(state, validator, height)) : undefined)
  return period === undefined || (period.lastHeight !== 0 && period.lastHeight < height)
    ? undefined
    : period.candidacyId
}

/** Members of a validator set by their keys. */
export type SetByKey = ReadonlyMap<PubKey, SetMember>

/** Writes `next` in place of `sent`, the set last sent, and who holds which key from `firstHeight` on. */
export function replaceSet(state: State, sent: SetByKey, next: SetByKey, firstHeight: number): void {
  for (const { pubKey, candidacyId } of sent.values()) {
    if (!next.has(pubKey)) state.remove(setMembers, { pubKey })
    if (next.get(pubKey)?.candidacyId !== candidacyId) endKeyPeriod(state, pubKey, firstHeight - 1)
  }
  const changed = [...next.values()].filter((member) => {
    const before = sent.get(member.pubKey)
    return before === undefined || !setMembers.isEqual(before, member)
  })
  for (const member of changed) {
    const { pubKey, candidacyId } = member
    state.put(setMembers, member)
    if (sent.get(pubKey)?.candidacyId !== candidacyId)
      putKeyPeriod(state, { pubKey, firstHeight, candidacyId, lastHeight: 0 })
  }
  if (changed.length > 0 || sent.size !== next.size) state.put(votingPowers, powersOf(next.values()))
}

function endKeyPeriod(state: State, key: PubKey, lastHeight: number): void {
  const row = latestKeyPeriod(state, key)
  if (row !== undefined) putKeyPeriod(state, { ...row, lastHeight })
}

/** Writes a period that is the newest one of its key. */
function putKeyPeriod(state: State, period: KeyPeriod): void {
  state.put(validatorKeys, period)
  const { validator, others } = periodsBeside(state, period)
  state.put(newestPeriods, { validator, periods: [period, ...others].slice(0, NEWEST_PERIODS) })
}

/** The periods in memory of the key of a period, without that one. */
function periodsBeside(state: State, { pubKey, firstHeight }: KeyPeriod) {
  const validator = addressOfKey(pubKeyBytes(pubKey))
  const { periods } = state.get(newestPeriods, { validator }) as RowOf<typeof newestPeriods>
  return { validator, periods, others: periods.filter((period) => period.firstHeight !== firstHeight) }
}

/** Drops the key periods that ended before `oldest`: no evidence can name them any more. */
export function dropKeyPeriods(state: State, oldest: number): void {
  for (const row of state.scan(validatorKeys, { index: 'byLastHeight' })) {
    if (row.lastHeight >= oldest) break
    state.remove(validatorKeys, row)
    // PERF: where the period is not in memory nothing changes there, and where it is, all before it were dropped already.
    // A lower max_age_num_blocks drops any number of rows in one block.
    const { validator, periods, others } = periodsBeside(state, row)
    if (others.length < periods.length) state.put(newestPeriods, { validator, periods: others })
  }
}

/** Writes the power cap, in whole tokens, for the SQL view `validators`. */
export function putPowerCap(state: State, tokens: number): void {
  state.put(powerCap, { name: 'validators', tokens })
}
