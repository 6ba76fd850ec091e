import type { State } from '../../store/state.ts'
import { programVersion } from '../chain/keeper.ts'
import type { Block, ChainEvent } from '../define.ts'
import { listDue } from './keeper.ts'
import { carryOut, resolve } from './resolve.ts'
import type { Proposal } from './tables.ts'
import { decided, tallyOf } from './tally.ts'

/** What EndBlock (a) leaves: events, and the program version that ended with this block, if one did. */
export interface Reached {
  readonly events: readonly ChainEvent[]
  readonly retiredVersion: number | undefined
}

/**
 * The point of one proposal: an open one is tallied once more and else expires; what is approved and still waits is
 * carried out.
 */
function reach(state: State, block: Block, proposal: Proposal): Proposal {
  if (proposal.result !== '') return carryOut(state, block, proposal)
  const tally = tallyOf(state, proposal)
  const result = decided(tally)
  const resolved = resolve(state, block, proposal, result === '' ? 'Expired' : result, tally)
  return resolved.pending ? carryOut(state, block, resolved) : resolved
}

/**
 * EndBlock (a): proposals whose point is reached, by block, then place in the block. A vote in this block still
 * counted. Bound: OPEN_PROPOSALS_MAX tallies of max_vals members. Source: protocol.md §2, Order inside a block; §6.
 */
export function reachPoints(state: State, block: Block): Reached {
  const version = programVersion(state)
  const events: ChainEvent[] = []
  for (const proposal of listDue(state, block)) {
    const { id, result } = reach(state, block, proposal)
    if (result !== proposal.result)
      events.push({
        type: 'svc.governance.resolved',
        attributes: [
          ['proposal_id', id],
          ['result', result],
        ],
      })
  }
  return { events, retiredVersion: programVersion(state) === version ? undefined : version }
}
