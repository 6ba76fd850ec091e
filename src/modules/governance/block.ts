import { printProposalId } from '../../values/pubKey.ts'
import type { State } from '../../store/state.ts'
import { programVersion } from '../chain/keeper.ts'
import type { Block } from '../define.ts'
import type { ChainEvent } from '../event.ts'
import { proposalKinds } from '../gen/proposalKinds.ts'
import { governanceEvents } from './events.ts'
import { dropAnswers, listDue, putProposal, tallyOf } from './keeper.ts'
import type { Proposal, ProposalResult, Tally } from './tables.ts'

/** True when `part` is at least two thirds of `total`. Nothing is rounded. A total of 0 decides nothing. */
export const isTwoThirds = (part: number, total: number): boolean =>
  total > 0 && BigInt(part) * 3n >= BigInt(total) * 2n

/** What a tally decides; '' while neither side has two thirds. */
export function decided({ yes, no, total }: Tally): Exclude<ProposalResult, 'Expired'> {
  if (isTwoThirds(yes, total)) return 'Approved'
  return isTwoThirds(no, total) ? 'Rejected' : ''
}

/** Ends a proposal; if approved, it is carried out, unless its kind waits for the point. Source: protocol.md §6. */
export function resolve(
  state: State,
  block: Block,
  proposal: Proposal,
  result: Exclude<ProposalResult, ''>,
  { yes: yesPower, no: noPower, total: totalPower }: Tally,
): Proposal {
  const ended = { result, resultBlockHeight: block.height, resultAt: block.time, yesPower, noPower, totalPower }
  const resolved: Proposal = { ...proposal, ...ended }
  dropAnswers(state, proposal.id)
  const kind = proposalKinds[proposal.type]
  if (result !== 'Approved') return put(state, { ...(kind.drop?.(state, resolved) ?? resolved), pending: false })
  return kind.carriedOut === 'at approval' ? carryOut(state, block, resolved) : put(state, resolved)
}

/** Carries an approved proposal out; a kind may make it Rejected, which keeps the tally. Returns it as it then is. */
function carryOut(state: State, block: Block, approved: Proposal): Proposal {
  const { proposal, rejected } = proposalKinds[approved.type].carryOut(state, block, approved)
  if (rejected === undefined) return put(state, { ...proposal, pending: false })
  const ended = {
    result: 'Rejected',
    resultMsg: rejected,
    resultBlockHeight: block.height,
    resultAt: block.time,
  } as const
  return put(state, { ...proposal, ...ended, pending: false })
}

function put(state: State, proposal: Proposal): Proposal {
  putProposal(state, proposal)
  return proposal
}

/** At its point an open proposal is tallied a last time and may expire; an approved one that waits is carried out. */
function reachPoint(state: State, block: Block, proposal: Proposal): Proposal {
  if (proposal.result !== '') return carryOut(state, block, proposal)
  const tally = tallyOf(state, proposal)
  const result = decided(tally)
  const resolved = resolve(state, block, proposal, result === '' ? 'Expired' : result, tally)
  return resolved.pending ? carryOut(state, block, resolved) : resolved
}

/**
 * EndBlock (a): proposals whose point is reached, by block, then index in the block. A vote in this block still
 * counted. `retiredVersion`: the program version that ended with this block, if one did. Bound: OPEN_PROPOSALS_MAX tallies
 * of max_vals members. Source: protocol.md §2, Order inside a block; §6.
 */
export function reachPoints(state: State, block: Block) {
  const version = programVersion(state)
  const events: ChainEvent[] = []
  for (const proposal of listDue(state, block)) {
    const { id, result } = reachPoint(state, block, proposal)
    if (result !== proposal.result)
      events.push(governanceEvents.resolved.of({ proposal_id: printProposalId(id), result }))
  }
  return { events, retiredVersion: programVersion(state) === version ? undefined : version }
}
