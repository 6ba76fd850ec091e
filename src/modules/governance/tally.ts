import type { StateReader } from '../../store/state.ts'
import { listSet } from '../stake/keeper.ts'
import { getVote } from './keeper.ts'
import type { Proposal, ProposalResult } from './tables.ts'

/** Voting power in whole tokens: for, against, and of the whole set. */
export interface Tally {
  readonly yes: number
  readonly no: number
  readonly total: number
}

/** True when at least two thirds of `total` stand behind `part`. Nothing is rounded. A total of 0 decides nothing. */
export const isTwoThirds = (part: number, total: number): boolean =>
  total > 0 && BigInt(part) * 3n >= BigInt(total) * 2n

/** The votes of the current validator set by its powers. Bound: 2 · max_vals. Source: protocol.md §6. */
export function tallyOf(state: StateReader, proposal: Proposal): Tally {
  let yes = 0
  let no = 0
  let total = 0
  for (const { candidacyId, power } of listSet(state)) {
    total += power
    const answer = getVote(state, proposal.id, candidacyId)?.answer
    if (answer === 'Y') yes += power
    if (answer === 'N') no += power
  }
  return { yes, no, total }
}

/** What a tally decides; '' while neither side has two thirds. */
export function decided({ yes, no, total }: Tally): Extract<ProposalResult, '' | 'Approved' | 'Rejected'> {
  if (isTwoThirds(yes, total)) return 'Approved'
  return isTwoThirds(no, total) ? 'Rejected' : ''
}
