import { addressOfKey } from '../../../base/address.ts'
import { compareBytes } from '../../../base/bytes.ts'
import { type PubKey, pubKeyBytes } from '../../../base/pubKey.ts'
import type { State } from '../../../store/state.ts'
import type { Block, ChainEvent } from '../../define.ts'
import { listSet } from '../keeper.ts'
import { powerCap, setMembers, type SetMember, validatorKeys } from '../tables.ts'
import { makeFirstSet, makeSet, type NewSet } from '../validatorSet.ts'
import type { CommitVote } from './commit.ts'

/** What CometBFT is told: the power of a key from two blocks later on, 0 to leave. */
export interface ValidatorUpdate {
  readonly pubKey: PubKey
  readonly power: number
}

/**
 * Evidence older than this many blocks is refused by CometBFT, so that it never outlives unbonding. Source: protocol.md
 * §4.
 */
export const evidenceBlocksMax = (unstakeWaitPeriod: number): number =>
  Math.max(1, Math.min(unstakeWaitPeriod - 2, 100_000))

const isSameHolder = (a: SetMember | undefined, b: SetMember): boolean => a?.candidacyId === b.candidacyId

/**
 * Notes in validator_keys who holds which key from `firstHeight` on, and drops rows that no evidence can name any more.
 */
function updateKeys(
  state: State,
  sent: ReadonlyMap<PubKey, SetMember>,
  next: ReadonlyMap<PubKey, SetMember>,
  firstHeight: number,
): void {
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

/** Writes `set` in place of the set last sent; returns what CometBFT is to be told, by key bytes. */
function replaceSet(
  state: State,
  { members, powerCap: tokens }: NewSet,
  firstHeight: number,
): readonly ValidatorUpdate[] {
  const sent = new Map(listSet(state).map((member) => [member.pubKey, member]))
  const next = new Map(members.map((member) => [member.pubKey, member]))
  state.put(powerCap, { name: 'validators', tokens })
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

/** The set that InitChain answers; its keys count from the initial height. Source: protocol.md §4. */
export const firstSet = (state: State, block: Block): readonly ValidatorUpdate[] =>
  replaceSet(state, makeFirstSet(state, block.params), block.height)

/** Tells whether a key signed this commit. Only a key of the set can have, so its address alone says so. */
function signersOf(votes: readonly CommitVote[]): (key: PubKey) => boolean {
  const signed = new Set(votes.filter((vote) => vote.signed).map(({ validator }) => validator))
  return (key) => signed.has(addressOfKey(pubKeyBytes(key)))
}

/**
 * EndBlock (e): sends CometBFT the difference between the set that the rows make and the one last sent; it applies two
 * blocks later. Bound: 2 · max_vals, and the keys that left max_age_num_blocks ago. Source: protocol.md §3, §4.4.
 */
export function updateSet(
  state: State,
  block: Block,
  votes: readonly CommitVote[],
): { updates: readonly ValidatorUpdate[]; events: readonly ChainEvent[] } {
  const updates = replaceSet(state, makeSet(state, block.params, signersOf(votes)), block.height + 2)
  const oldest = block.height - evidenceBlocksMax(block.params.unstakeWaitPeriod)
  for (const row of state.scan(validatorKeys, { index: 'byLastHeight' })) {
    if (row.lastHeight >= oldest) break
    state.remove(validatorKeys, row)
  }
  const changed = { type: 'svc.stake.validator_set', attributes: [['changed', String(updates.length)]] as const }
  return { updates, events: updates.length === 0 ? [] : [changed] }
}
