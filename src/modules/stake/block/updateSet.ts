import { compareBytes } from '../../../base/bytes.ts'
import { type PubKey, pubKeyBytes } from '../../../base/pubKey.ts'
import type { State } from '../../../store/state.ts'
import type { RowOf } from '../../../store/table.ts'
import { getChain } from '../../chain/keeper.ts'
import type { Block, ChainEvent } from '../../define.ts'
import { listSet } from '../keeper.ts'
import { powerCap, setMembers, validatorKeys } from '../tables.ts'
import { makeSet, type NewSet, votingPower } from '../validatorSet.ts'
import { candidacyIdAt, type CommitVote } from './commit.ts'

type SetMember = RowOf<typeof setMembers>

/** What CometBFT is told: the power of a key from two blocks later on, 0 to leave. */
export interface ValidatorUpdate {
  readonly pubKey: PubKey
  readonly power: number
}

/** Evidence older than this many blocks is refused by CometBFT, so that it never outlives unbonding. Source: protocol.md §4. */
export const evidenceBlocksMax = (unstakeWaitPeriod: number): number => Math.max(1, Math.min(unstakeWaitPeriod - 2, 100_000))

/** True when the new set may be sent: somebody is in it, and from the second block on somebody of it signed the last commit. */
function isAlive(state: State, block: Block, members: NewSet['members'], votes: readonly CommitVote[]): boolean {
  if (members.length === 0) return false
  if (block.height <= getChain(state).initialHeight) return true
  const signed = new Set(votes.filter((vote) => vote.signed).map((vote) => candidacyIdAt(state, vote.validator, block.height - 1)))
  return members.some(({ id }) => signed.has(id))
}

const isSameHolder = (a: SetMember | undefined, b: SetMember): boolean => a?.candidacyId === b.candidacyId

/** Notes in validator_keys who holds which key from `firstHeight` on, and drops rows that no evidence can name any more. */
function updateKeys(state: State, sent: ReadonlyMap<PubKey, SetMember>, next: ReadonlyMap<PubKey, SetMember>, firstHeight: number): void {
  for (const member of sent.values()) {
    if (isSameHolder(next.get(member.pubKey), member)) continue
    for (const row of state.scan(validatorKeys, { prefix: pubKeyBytes(member.pubKey), reverse: true })) {
      state.put(validatorKeys, { ...row, lastHeight: firstHeight - 1 })
      break
    }
  }
  for (const member of next.values()) {
    if (isSameHolder(sent.get(member.pubKey), member)) continue
    state.put(validatorKeys, { pubKey: member.pubKey, firstHeight, candidacyId: member.candidacyId, lastHeight: 0 })
  }
}

/** Writes `next` in place of the set last sent; returns what CometBFT is to be told, by key bytes. */
function replaceSet(state: State, next: ReadonlyMap<PubKey, SetMember>, firstHeight: number): readonly ValidatorUpdate[] {
  const sent = new Map(listSet(state).map((member) => [member.pubKey, member]))
  updateKeys(state, sent, next, firstHeight)
  const updates: ValidatorUpdate[] = []
  for (const { pubKey } of sent.values()) {
    if (next.has(pubKey)) continue
    state.remove(setMembers, { pubKey })
    updates.push({ pubKey, power: 0 })
  }
  for (const member of next.values()) {
    state.put(setMembers, member)
    if (sent.get(member.pubKey)?.power !== member.power) updates.push({ pubKey: member.pubKey, power: member.power })
  }
  return updates.sort((a, b) => compareBytes(pubKeyBytes(a.pubKey), pubKeyBytes(b.pubKey)))
}

function membersOf(set: NewSet): ReadonlyMap<PubKey, SetMember> {
  return new Map(set.members.map((candidacy) =>
    [candidacy.pubKey, { pubKey: candidacy.pubKey, candidacyId: candidacy.id, power: votingPower(candidacy, set.powerCap) }]))
}

/** The set that InitChain answers; its keys count from the initial height. Source: protocol.md §4. */
export function firstSet(state: State, block: Block): readonly ValidatorUpdate[] {
  const set = makeSet(state, block.params)
  state.put(powerCap, { name: 'validators', tokens: set.powerCap })
  return replaceSet(state, membersOf(set), block.height)
}

/**
 * EndBlock (e): sends CometBFT the difference between the set that the rows make and the one last sent; it applies two blocks later.
 * A set that nobody living holds is not sent: the chain never loses its last validator. Bound: max_vals, and the keys that left
 * max_age_num_blocks ago. Source: protocol.md §3, §4.4.
 */
export function updateSet(
  state: State, block: Block, votes: readonly CommitVote[],
): { updates: readonly ValidatorUpdate[]; events: readonly ChainEvent[] } {
  const set = makeSet(state, block.params)
  state.put(powerCap, { name: 'validators', tokens: set.powerCap })
  const updates = isAlive(state, block, set.members, votes) ? replaceSet(state, membersOf(set), block.height + 2) : []
  const oldest = block.height - evidenceBlocksMax(block.params.unstakeWaitPeriod)
  for (const row of state.scan(validatorKeys, { index: 'byLastHeight' })) {
    if (row.lastHeight >= oldest) break
    state.remove(validatorKeys, row)
  }
  const changed = { type: 'svc.stake.validator_set', attributes: [['changed', String(updates.length)]] as const }
  return { updates, events: updates.length === 0 ? [] : [changed] }
}
