import type { Address } from '../../base/address.ts'
import { concat, u64be } from '../../base/bytes.ts'
import { type ProposalId, proposalIdBytes } from '../../base/pubKey.ts'
import type { TxError } from '../../base/txError.ts'
import type { State, StateReader } from '../../store/state.ts'
import { text } from '../../values/text.ts'
import type { RowOf } from '../../store/table.ts'
import type { Block } from '../define.ts'
import { getLiveByOwner, isInSet } from '../stake/keeper.ts'
import { governanceErrors } from './errors.ts'
import { type Proposal, proposals, votes } from './tables.ts'

/** Most open proposals of one candidacy, and of the chain. Source: protocol.md §6. */
export const OPEN_PROPOSALS_OF_ONE_MAX = 20
/** Most open proposals of the chain: what one EndBlock may have to tally. */
export const OPEN_PROPOSALS_MAX = 1000

/**
 * The candidacy id with which `sender` belongs to the current validator set: it owns, now, a live candidacy that is in
 * it.
 */
export function validatorIdOf(state: StateReader, sender: Address): number | TxError {
  const candidacy = getLiveByOwner(state, sender)
  return candidacy !== undefined && isInSet(state, candidacy.id) ? candidacy.id : governanceErrors.invalidValidator
}

/** The proposal of an id. */
export const getProposal = (state: StateReader, id: ProposalId): Proposal | undefined => state.get(proposals, { id })

/** Writes a proposal. */
export const putProposal = (state: State, proposal: Proposal): void => state.put(proposals, proposal)

/** All proposals by block, then place in the block. Bound: all of them; for queries. */
export const listProposals = (state: StateReader): Iterable<Proposal> => state.scan(proposals, { index: 'byPlace' })

/** The limits on open proposals, or undefined while one more is allowed. */
export function checkOpenLimits(state: StateReader, candidacyId: number): TxError | undefined {
  return state.count(proposals, { index: 'openByCandidacy', prefix: u64be(candidacyId) }) >=
    OPEN_PROPOSALS_OF_ONE_MAX || state.count(proposals, { index: 'openByCandidacy' }) >= OPEN_PROPOSALS_MAX
    ? governanceErrors.tooManyOpen
    : undefined
}

/**
 * Proposals whose point this block reaches, by block, then place. Bound: OPEN_PROPOSALS_MAX, and those approved that
 * wait.
 */
export function listDue(state: StateReader, block: Block): readonly Proposal[] {
  const due: Proposal[] = []
  for (const proposal of state.scan(proposals, { index: 'dueByHeight' })) {
    if (proposal.expireBlockHeight > block.height) break
    due.push(proposal)
  }
  for (const proposal of state.scan(proposals, { index: 'dueByTime' })) {
    if (proposal.expireTimestamp > block.time) break
    due.push(proposal)
  }
  return due.sort((a, b) => a.blockHeight - b.blockHeight || a.place - b.place)
}

/** True while a proposal for this library is open, or approved before its point. */
export const hasOngoingLibrary = (state: StateReader, name: string): boolean =>
  state.count(proposals, { index: 'ongoingLibrary', prefix: text.toKey(name) }) > 0

/** The version deployed last for a library's name; it is the highest, as only higher ones are proposed. */
export function deployedVersion(state: StateReader, name: string): string | undefined {
  for (const { version } of state.scan(proposals, {
    index: 'deployedLibrary',
    prefix: text.toKey(name),
    reverse: true,
  }))
    return version
  return undefined
}

/** True while an unresolved or approved proposal to retire this program version exists. */
export const hasStandingRetirement = (state: StateReader, programVersion: number): boolean =>
  state.count(proposals, { index: 'standingRetirement', prefix: text.toKey(String(programVersion)) }) > 0

/** One candidacy's vote on a proposal. */
export const getVote = (
  state: StateReader,
  proposalId: ProposalId,
  candidacyId: number,
): RowOf<typeof votes> | undefined => state.get(votes, { proposalId, candidacyId })

/** Writes a vote in place of the candidacy's earlier one. */
export const putVote = (state: State, vote: RowOf<typeof votes>): void => state.put(votes, vote)

/** All votes on a proposal by candidacy id. Bound: candidacies that were in the set while it was open; for queries. */
export const listVotes = (state: StateReader, proposalId: ProposalId): Iterable<RowOf<typeof votes>> =>
  state.scan(votes, { prefix: concat(proposalIdBytes(proposalId)) })
