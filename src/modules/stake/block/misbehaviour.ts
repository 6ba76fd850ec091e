import { shareFloor } from '../../../base/amount.ts'
import type { State } from '../../../store/state.ts'
import { addBurned, getChain } from '../../chain/keeper.ts'
import type { Block, ChainEvent } from '../../define.ts'
import { getById, listUnbondings, putUpdated } from '../keeper.ts'
import { misbehaviours, unbondings } from '../tables.ts'
import { candidacyIdAt, type Offence } from './commit.ts'

/** Burns slash_ratio of an amount, rounded down; returns what is left. */
function cut(state: State, amount: bigint): bigint {
  const burned = shareFloor(amount, getChain(state).slashRatio)
  addBurned(state, burned)
  return amount - burned
}

/**
 * Step 1 of a block: each offence burns slash_ratio of the candidacy's shares, and of its unbonding entries made at or
 * after the block before the offence, and makes it inactive. One at a height not above its last removal + 1 counts as
 * that one. Bound: evidence max_bytes. Source: protocol.md §5.
 */
export function punish(state: State, block: Block, offences: readonly Offence[]): readonly ChainEvent[] {
  const events: ChainEvent[] = []
  for (const { validator, height } of offences) {
    const candidacyId = candidacyIdAt(state, validator, height)
    if (candidacyId === undefined) continue
    const last = state.get(misbehaviours, { candidacyId })
    if (last !== undefined && height <= last.removedHeight + 1) continue
    for (const entry of listUnbondings(state, candidacyId)) {
      if (entry.heightMade >= height - 1) state.put(unbondings, { ...entry, amount: cut(state, entry.amount) })
    }
    const candidacy = getById(state, candidacyId)
    if (candidacy !== undefined) {
      putUpdated(state, { ...candidacy, shares: cut(state, candidacy.shares), active: false }, block.time)
      if (candidacy.active) {
        events.push({
          type: 'svc.stake.removed',
          attributes: [
            ['owner', candidacy.ownerAddress],
            ['reason', 'misbehaviour'],
          ],
        })
      }
    }
    state.put(misbehaviours, { candidacyId, removedHeight: block.height })
  }
  return events
}
