import type { State } from '../../store/state.ts'
import type { Block } from '../define.ts'
import { putProposal } from './keeper.ts'
import { proposalKinds } from './proposal/kinds.ts'
import type { Proposal, ProposalResult, ProposalType } from './tables.ts'
import type { Tally } from './tally.ts'

const kindOf = (proposal: Proposal) => proposalKinds[proposal.type as ProposalType]

/**
 * Carries an approved proposal out and writes it; a kind may turn it into Rejected, which keeps the tally. Returns it
 * as it then is.
 */
export function carryOut(state: State, block: Block, proposal: Proposal): Proposal {
  const outcome = kindOf(proposal).carryOut(state, block, proposal)
  const rejected =
    outcome.rejected === undefined
      ? {}
      : { result: 'Rejected', resultMsg: outcome.rejected, resultBlockHeight: block.height, resultAt: block.time }
  const done: Proposal = { ...proposal, ...outcome.row, ...rejected, pending: false }
  putProposal(state, done)
  return done
}

/**
 * Ends an open proposal with its last tally. An approved one is carried out now, unless its kind waits for its point.
 * Source: protocol.md §6.
 */
export function resolve(
  state: State,
  block: Block,
  proposal: Proposal,
  result: Exclude<ProposalResult, ''>,
  tally: Tally,
): Proposal {
  const resolved: Proposal = {
    ...proposal,
    result,
    resultBlockHeight: block.height,
    resultAt: block.time,
    yesPower: tally.yes,
    noPower: tally.no,
    totalPower: tally.total,
  }
  const kind = kindOf(proposal)
  if (result === 'Approved') {
    if (kind.at === 'approval') return carryOut(state, block, resolved)
    putProposal(state, resolved)
    return resolved
  }
  const dropped = { ...resolved, ...kind.drop?.(state, resolved), pending: false }
  putProposal(state, dropped)
  return dropped
}
