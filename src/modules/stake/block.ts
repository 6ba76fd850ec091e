import { type Address, addressOfKey } from '../../values/address.ts'
import { type Amount, divFloor, maxOf, minOf, ONE, shareFloor, TOKEN } from '../../base/amount.ts'
import { printPubKey, type PubKey, pubKeyBytes } from '../../values/pubKey.ts'
import type { State, StateReader } from '../../store/state.ts'
import { addBalance } from '../accounts/keeper.ts'
import { addToTotals, getChain, supplyOf } from '../chain/keeper.ts'
import type { Block } from '../define.ts'
import type { ChainEvent } from '../event.ts'
import { AWARD_EVENT_BLOCKS } from '../shownRules.ts'
import { closeBatch, listBatches, payClaims, poolOver } from '../delegation/keeper.ts'
import { stakeEvents } from './events.ts'
import {
  absencesOf,
  candidacyIdAt,
  changeCandidacy,
  changeShares,
  changeUnbonding,
  clearAbsence,
  compRateAt,
  countAbsence,
  dropKeyPeriods,
  getById,
  isOnlyEligible,
  lastMisbehaviour,
  latestKeyPeriod,
  listDueUnbondings,
  listSet,
  listUnbondings,
  putPowerCap,
  recordMisbehaviour,
  removeUnbonding,
  replaceSet,
  selfShares,
  type SetByKey,
} from './keeper.ts'
import { type Candidacy, isEligible, type SetMember } from './tables.ts'
import { byRank, firstSet, nextSet, type NewSet } from './validatorSet.ts'

/** One member of the set whose commit the block carries. */
export interface CommitVote {
  /** CometBFT's address of the validator key. */
  readonly validator: Address
  readonly power: number
  /** True unless the flag is absent; a nil vote counts as signed. */
  readonly signed: boolean
}

/** What CometBFT reports of a validator that signed what it must not. */
export interface Offence {
  readonly validator: Address
  /** Height of the offence. */
  readonly height: number
}

/** What CometBFT is told: the power of a key from two blocks later on, 0 to leave. */
export interface ValidatorUpdate {
  readonly pubKey: PubKey
  readonly power: number
}

/** The live candidacy that a vote in the last commit belongs to, if its record is still there. */
function liveVoter(state: StateReader, vote: CommitVote, commitHeight: number): Candidacy | undefined {
  const id = candidacyIdAt(state, vote.validator, commitHeight)
  const candidacy = id === undefined ? undefined : getById(state, id)
  return candidacy?.withdrawn === false ? candidacy : undefined
}

// BeginBlock: misbehaviour

/** Burns slash_ratio of an amount, rounded down; returns what is left. */
function slash(state: State, amount: bigint): bigint {
  const burned = shareFloor(amount, getChain(state).slashRatio)
  addToTotals(state, 'burned', burned)
  return amount - burned
}

/**
 * Step 1 of a block: each offence burns slash_ratio of the owner's shares, of what is delegated, and of the unbonding
 * entries and batches made at or after the block before the offence, and makes the candidacy inactive. One at a height
 * not above its last removal + 1 counts as that one. Bound: evidence max_bytes. Source: protocol.md §5, §12.
 */
export function punish(state: State, block: Block, offences: readonly Offence[]): readonly ChainEvent[] {
  const events: ChainEvent[] = []
  for (const { validator, height } of offences) {
    const candidacyId = candidacyIdAt(state, validator, height)
    if (candidacyId === undefined) continue
    const removedHeight = lastMisbehaviour(state, candidacyId)
    if (removedHeight !== undefined && height <= removedHeight + 1) continue
    for (const entry of listUnbondings(state, candidacyId)) {
      if (entry.heightMade >= height - 1) changeUnbonding(state, entry, slash(state, entry.amount))
    }
    for (const batch of listBatches(state, candidacyId)) {
      if (batch.heightMade >= height - 1) closeBatch(state, batch, slash(state, batch.amount))
    }
    const candidacy = getById(state, candidacyId)
    if (candidacy !== undefined) {
      const delegated = slash(state, candidacy.delegated)
      const pool = delegated === 0n && candidacy.delegationUnits > 0n ? poolOver(candidacy) : { delegated }
      const shares = slash(state, selfShares(candidacy)) + delegated
      changeCandidacy(state, candidacy, { shares, active: false, ...pool }, block.time)
      if (candidacy.active)
        events.push(stakeEvents.removed.of({ owner: candidacy.ownerAddress, reason: 'misbehaviour' }))
    }
    recordMisbehaviour(state, candidacyId, block.height)
  }
  return events
}

// EndBlock (b): absence

/**
 * Counts one commit; returns the candidacies that have now missed too many in a row. Only the first commit that one
 * misses and the first that it signs again are events.
 */
function countAbsences(
  state: State,
  commitHeight: number,
  votes: readonly CommitVote[],
  absentBlocksMax: number,
): { readonly over: readonly Candidacy[]; readonly events: readonly ChainEvent[] } {
  const events: ChainEvent[] = []
  const voters = new Map<number, Candidacy>()
  // A candidacy whose new key joins beside the old one signs with either.
  const signers = new Map<number, Candidacy>()
  for (const vote of votes) {
    const candidacy = liveVoter(state, vote, commitHeight)
    if (candidacy === undefined) continue
    voters.set(candidacy.id, candidacy)
    if (vote.signed) signers.set(candidacy.id, candidacy)
  }
  for (const { id, ownerAddress } of signers.values()) {
    const missed = absencesOf(state, id)
    if (missed > 0) events.push(stakeEvents.present.of({ owner: ownerAddress, missed: String(missed) }))
    clearAbsence(state, id)
  }
  const absent = [...voters.values()].filter(({ id, active }) => active && !signers.has(id))
  const over = absent.filter(({ id, ownerAddress }) => {
    const count = countAbsence(state, id)
    if (count === 1) events.push(stakeEvents.absent.of({ owner: ownerAddress }))
    return count >= absentBlocksMax
  })
  return { over, events }
}

/**
 * EndBlock (b): a candidacy absent from max_absent_blocks commits in a row becomes inactive: of the eligible ones the
 * last in rank first, then the others in their order. The only eligible one stays and goes on counting. Bound: the size
 * of the last commit. Source: protocol.md §5.
 */
export function removeAbsent(state: State, block: Block, votes: readonly CommitVote[]): readonly ChainEvent[] {
  const counted = countAbsences(state, block.height - 1, votes, getChain(state).maxAbsentBlocks)
  const ranked = [...counted.over].sort(byRank)
  const events: ChainEvent[] = [...counted.events]
  for (const candidacy of [...ranked.filter(isEligible).reverse(), ...ranked.filter((one) => !isEligible(one))]) {
    if (isOnlyEligible(state, candidacy)) continue
    changeCandidacy(state, candidacy, { active: false }, block.time)
    clearAbsence(state, candidacy.id)
    events.push(stakeEvents.removed.of({ owner: candidacy.ownerAddress, reason: 'absence' }))
  }
  return events
}

// EndBlock (c): award

/** Nothing is minted once supply reaches this. Source: protocol.md §4. */
export const SUPPLY_MINTED_MAX = 9n * 10n ** 15n * TOKEN

const MS_A_YEAR = 31_536_000_000n
const BLOCK_MS_MAX = 10_000

/**
 * EndBlock (c): mints the block's award and shares it by power among the members of the last commit that signed and
 * whose candidacy is eligible now; each part rounds down and the rest is not minted. What of a part belongs to delegators
 * joins their pool; the owner's fills shares up to max_shares, then its balance. Every AWARD_EVENT_BLOCKS blocks it is an
 * event for each owner who is paid. Bound: the size of the last commit. Source: protocol.md §5, §9, §12.
 */
export function payAward(state: State, block: Block, votes: readonly CommitVote[]): readonly ChainEvent[] {
  const supply = supplyOf(state)
  const total = votes.reduce((sum, { power }) => sum + BigInt(power), 0n)
  if (total === 0n || supply >= SUPPLY_MINTED_MAX) return []
  const elapsedMs = Math.max(0, Math.min(block.timeMs - getChain(state).lastTimeMs, BLOCK_MS_MAX))
  const award = divFloor(supply * BigInt(block.params.inflationRate) * BigInt(elapsedMs), 100n * MS_A_YEAR)
  // A candidacy whose new key joins beside the old one is paid for both.
  const paid =
    block.height % AWARD_EVENT_BLOCKS === 0 ? new Map<Address, { toOwner: Amount; toPool: Amount }>() : undefined
  for (const vote of votes) {
    const candidacy = vote.signed ? liveVoter(state, vote, block.height - 1) : undefined
    if (candidacy === undefined || !isEligible(candidacy)) continue
    const { ownerAddress } = candidacy
    const part = divFloor(award * BigInt(vote.power), total)
    const toPool = poolAwardOf(candidacy, part, block.height)
    const toOwner = part - toPool
    const shares = candidacy.shares + toPool
    const toShares = minOf(toOwner, maxOf(0n, candidacy.maxShares - shares))
    changeShares(state, candidacy, { shares: shares + toShares, delegated: candidacy.delegated + toPool })
    addBalance(state, ownerAddress, toOwner - toShares)
    addToTotals(state, 'minted', part)
    if (paid === undefined || part === 0n) continue
    const before = paid.get(ownerAddress) ?? { toOwner: 0n, toPool: 0n }
    paid.set(ownerAddress, { toOwner: before.toOwner + toOwner, toPool: before.toPool + toPool })
  }
  return [...(paid ?? [])].map(([owner, { toOwner, toPool }]) =>
    stakeEvents.award.of({ owner, amount: String(toOwner), ...(toPool > 0n && { delegated: String(toPool) }) }),
  )
}

/**
 * What of a candidacy's award goes to its delegators: their part of the shares, less the commission. Source: protocol.md
 * §12.
 */
const poolAwardOf = (candidacy: Candidacy, part: Amount, height: number): Amount =>
  candidacy.delegated === 0n
    ? 0n
    : divFloor(part * candidacy.delegated * (ONE - compRateAt(candidacy, height)), candidacy.shares * ONE)

// EndBlock (d): payout

/**
 * EndBlock (d): pays out what is due: first the unbonding entries, to the owner at the time of withdraw, by number, then
 * the claims of delegators, a bounded number of them. Source: protocol.md §3, withdraw, and §12.
 */
export function payUnbonded(state: State, block: Block): readonly ChainEvent[] {
  const events: ChainEvent[] = []
  const pay = (owner: Address, amount: Amount): void => {
    addBalance(state, owner, amount)
    events.push(stakeEvents.unbonded.of({ owner, amount: amount.toString() }))
  }
  for (const entry of listDueUnbondings(state, block.height)) {
    removeUnbonding(state, entry)
    pay(entry.ownerAddress, entry.amount)
  }
  payClaims(state, block.height, pay)
  return events
}

// EndBlock (e): the validator set

/**
 * CometBFT refuses evidence older than this many blocks, so that no evidence outlives the unbonding of its offender.
 * Source: protocol.md §4.
 */
export const evidenceBlocksMax = (unstakeWaitPeriod: number): number =>
  Math.max(1, Math.min(unstakeWaitPeriod - 2, 100_000))

const keyed = (members: readonly SetMember[]): SetByKey => new Map(members.map((member) => [member.pubKey, member]))

/** Writes `set` in place of `sent`, the set last sent; returns what CometBFT is to be told, by key bytes. */
function sendSet(
  state: State,
  sent: readonly SetMember[],
  set: NewSet,
  firstHeight: number,
): readonly ValidatorUpdate[] {
  const [before, after] = [keyed(sent), keyed(set.members)]
  putPowerCap(state, set.powerCap)
  replaceSet(state, before, after, firstHeight)
  const left = sent.filter(({ pubKey }) => !after.has(pubKey)).map(({ pubKey }) => ({ pubKey, power: 0 }))
  const changed = set.members
    .filter(({ pubKey, power }) => before.get(pubKey)?.power !== power)
    .map(({ pubKey, power }) => ({ pubKey, power }))
  return [...left, ...changed].sort((a, b) => (a.pubKey < b.pubKey ? -1 : 1))
}

/** Writes the set that InitChain answers; its keys count from the initial height. Source: protocol.md §4. */
export const sendFirstSet = (state: State, block: Block): readonly ValidatorUpdate[] =>
  sendSet(state, [], firstSet(state, block.params), block.height)

/**
 * Tells whether a key signed the commit of `commitHeight` in the period that it has in the set now. The signature of an
 * earlier period, when the key may have belonged to another candidacy, proves nothing. Source: protocol.md §4.4.
 */
function signersOf(state: StateReader, votes: readonly CommitVote[], commitHeight: number): (key: PubKey) => boolean {
  const signed = new Set(votes.filter((vote) => vote.signed).map(({ validator }) => validator))
  return (key) =>
    signed.has(addressOfKey(pubKeyBytes(key))) && (latestKeyPeriod(state, key)?.firstHeight ?? Infinity) <= commitHeight
}

/**
 * EndBlock (e): sends CometBFT the difference between the set that the rows make and the one last sent; it applies two
 * blocks later. Bound: 2 · max_vals, and the keys that left max_age_num_blocks ago. Source: protocol.md §3, §4.4.
 */
export function updateSet(
  state: State,
  block: Block,
  votes: readonly CommitVote[],
): { readonly updates: readonly ValidatorUpdate[]; readonly events: readonly ChainEvent[] } {
  const sent = listSet(state)
  const next = nextSet(state, sent, block.params, signersOf(state, votes, block.height - 1))
  const updates = sendSet(state, sent, next, block.height + 2)
  dropKeyPeriods(state, block.height - evidenceBlocksMax(block.params.unstakeWaitPeriod))
  const changed = stakeEvents.validatorSet.of({ changed: String(updates.length) })
  return {
    updates,
    events: updates.length === 0 ? [] : [changed, ...comingsAndGoings(state, sent, next.members, updates)],
  }
}

/** An event for each key that joins the set or leaves it. A key whose record was replaced has no owner any more. */
function comingsAndGoings(
  state: StateReader,
  sent: readonly SetMember[],
  members: readonly SetMember[],
  updates: readonly ValidatorUpdate[],
): readonly ChainEvent[] {
  const before = keyed(sent)
  const after = keyed(members)
  return updates
    .filter(({ pubKey, power }) => power === 0 || !before.has(pubKey))
    .flatMap(({ pubKey, power }) => {
      const member = (power === 0 ? before : after).get(pubKey)
      const owner = member === undefined ? undefined : getById(state, member.candidacyId)?.ownerAddress
      const event = power === 0 ? stakeEvents.left : stakeEvents.joined
      return owner === undefined ? [] : [event.of({ owner, pub_key: printPubKey(pubKey) })]
    })
}
