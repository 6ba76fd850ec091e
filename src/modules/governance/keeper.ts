import type { Address } from '../../values/address.ts'
import { divFloor } from '../../base/amount.ts'
import { concat, u64be } from '../../base/bytes.ts'
import { type ProposalId, proposalIdBytes } from '../../values/pubKey.ts'
import type { TxError } from '../../base/txError.ts'
import { firstOf, type State, type StateReader } from '../../store/state.ts'
import type { RowOf } from '../../store/table.ts'
import { text } from '../../values/text.ts'
import type { Block } from '../define.ts'
import { getLiveByOwner, getVotingPowers, membersOf } from '../stake/keeper.ts'
import type { VotingPowers } from '../stake/tables.ts'
import { governanceErrors } from './errors.ts'
import {
  answers,
  blankColumns,
  type LibraryStatus,
  libraryStatus,
  type OwnFields,
  type Proposal,
  type ProposalOf,
  type ProposalResult,
  proposals,
  type ProposalType,
  type Tally,
  type Vote,
  votes,
} from './tables.ts'

/** Most open proposals of one candidacy, however much power it has. Source: protocol.md §6. */
export const OPEN_PROPOSALS_OF_ONE_MAX = 20
/** A candidacy with all the power could have this many, if it were not for OPEN_PROPOSALS_OF_ONE_MAX. */
export const OPEN_PROPOSALS_BY_POWER = 1000
/** Most open proposals of the chain: what one EndBlock may have to tally. */
export const OPEN_PROPOSALS_MAX = 2000

/**
 * The id of the candidacy that `sender` owns when it may vote: it is live, and has a member in the current validator set.
 * Source: protocol.md §6.
 */
export function voterIdOf(state: StateReader, sender: Address): number | TxError {
  const candidacy = getLiveByOwner(state, sender)
  return candidacy !== undefined && getVotingPowers(state).byCandidacy.has(candidacy.id)
    ? candidacy.id
    : governanceErrors.invalidValidator
}

/** The id of the sender's candidacy when it may propose: a key of it in the set is proven. Source: protocol.md §6. */
export function proposerIdOf(state: StateReader, sender: Address): number | TxError {
  const id = voterIdOf(state, sender)
  return typeof id !== 'number' || membersOf(state, id).some(({ proven }) => proven)
    ? id
    : governanceErrors.invalidValidator
}

// A row has the fields of its kind, as `createProposal` wrote them, and blanks in those of other kinds.

/** The proposal of an id. */
export const getProposal = (state: StateReader, id: ProposalId): Proposal | undefined =>
  state.get(proposals, { id }) as Proposal | undefined

/** Which proposals are asked for; all of them where nothing is given. */
export interface ProposalFilter {
  readonly type?: ProposalType | undefined
  readonly result?: ProposalResult | undefined
}

/** The rows of a filter, which stand together in one index. */
function rowsOf({ type, result }: ProposalFilter) {
  if (type === undefined && result === undefined) return { index: 'byPlace' } as const
  if (result === undefined) return { index: 'byType', prefix: text.toKey(type as ProposalType) } as const
  if (type === undefined) return { index: 'byResult', prefix: text.toKey(result) } as const
  return { index: 'byTypeAndResult', prefix: concat(text.toKey(type), text.toKey(result)) } as const
}

/** Proposals by block, then index in the block; the newest first if asked. Bound: all of them; for queries. */
export const listProposals = (state: StateReader, filter: ProposalFilter = {}, reverse = false): Iterable<Proposal> =>
  state.scan(proposals, { ...rowsOf(filter), reverse }) as Iterable<Proposal>

/** How many proposals there are of a filter. Cost: grows with that number, in the index alone; for queries. */
export const countProposals = (state: StateReader, filter: ProposalFilter): number =>
  state.count(proposals, rowsOf(filter))

/** The number of a proposal, counted from 1 in the order in which they were made. Cost as of `countProposals`. */
export const numberOf = (state: StateReader, one: Proposal): number =>
  1 + state.rank(proposals, 'byPlace', { ...blankColumns, ...one })

/** What a new proposal is given beside the fields of its kind. */
export interface NewProposal
  extends Pick<Proposal, 'id' | 'proposer' | 'candidacyId' | 'reason' | 'expireBlockHeight' | 'expireTimestamp'> {
  readonly block: Block
  /** Index of the proposing transaction in its block. */
  readonly index: number
}

/** Creates an open proposal. */
export function createProposal(state: State, { block, index, ...given }: NewProposal, fields: OwnFields): void {
  putProposal(state, {
    ...given,
    ...fields,
    blockHeight: block.height,
    place: index,
    createdAt: block.time,
    result: '',
    resultMsg: '',
    resultBlockHeight: 0,
    resultAt: 0,
    pending: true,
    yesPower: 0,
    noPower: 0,
    totalPower: 0,
  })
}

/** Writes a proposal as it is after a step of its life. */
export function putProposal(state: State, proposal: Proposal): void {
  state.put(proposals, { ...blankColumns, ...proposal })
}

/** The open proposals of the chain. */
export const countOpen = (state: StateReader): number => state.count(proposals, { index: 'openByCandidacy' })

/**
 * How many open proposals a candidacy of the set may have: in proportion to its power, so that those with little power
 * cannot use up the places of those with much. At least 1, at most OPEN_PROPOSALS_OF_ONE_MAX. Source: protocol.md §6.
 */
function openProposalsMaxOf(state: StateReader, candidacyId: number): number {
  const { byCandidacy, total } = getVotingPowers(state)
  const power = byCandidacy.get(candidacyId) ?? 0
  const byPower = Number(divFloor(BigInt(OPEN_PROPOSALS_BY_POWER) * BigInt(power), BigInt(total)))
  return Math.max(1, Math.min(OPEN_PROPOSALS_OF_ONE_MAX, byPower))
}

/** The limits on open proposals, or undefined while the candidacy, which is in the set, may have one more. */
export function checkOpenLimits(state: StateReader, candidacyId: number): TxError | undefined {
  const open = state.count(proposals, { index: 'openByCandidacy', prefix: u64be(candidacyId) })
  return open >= openProposalsMaxOf(state, candidacyId) || countOpen(state) >= OPEN_PROPOSALS_MAX
    ? governanceErrors.tooManyOpen
    : undefined
}

/** Proposals whose point is reached, by block, then index. Bound: OPEN_PROPOSALS_MAX, and approved ones that wait. */
export function listDue(state: StateReader, block: Block): readonly Proposal[] {
  const due = [
    ...state.scan(proposals, { index: 'dueByHeight', before: u64be(block.height + 1) }),
    ...state.scan(proposals, { index: 'dueByTime', before: u64be(block.time + 1) }),
  ] as Proposal[]
  return due.sort((a, b) => a.blockHeight - b.blockHeight || a.place - b.place)
}

/** True while a proposal for this library is open, or approved before its point. */
export const hasOngoingLibrary = (state: StateReader, name: string): boolean =>
  state.count(proposals, { index: 'ongoingLibrary', prefix: text.toKey(name) }) > 0

/** The version deployed last for a library's name; it is the highest, as only higher ones are proposed. */
export const deployedVersion = (state: StateReader, name: string): string | undefined =>
  firstOf(state.scan(proposals, { index: 'deployedLibrary', prefix: text.toKey(name), reverse: true }))?.version

/**
 * The libraries that this node may have something to do for: those before their point, those deployed, and those rejected
 * or expired whose status here is not yet `rejected`. Of the others a single validator can make any number, so they are
 * not read. Bound: OPEN_PROPOSALS_MAX now and once more when this node stopped, and what two thirds of the voting power
 * approved.
 */
export function* listLibraries(state: StateReader): Generator<ProposalOf<'deploy_libeni'>> {
  for (const index of ['ongoingLibrary', 'deployedLibrary'] as const)
    yield* state.scan(proposals, { index }) as Iterable<ProposalOf<'deploy_libeni'>>
  for (const { proposalId: id } of state.scan(libraryStatus, { index: 'beforePoint' })) {
    const proposal = getProposal(state, id)
    if (proposal?.type === 'deploy_libeni' && !proposal.pending && proposal.result !== 'Approved') yield proposal
  }
}

/** True while an unresolved or approved proposal to retire this program version exists. */
export const hasStandingRetirement = (state: StateReader, programVersion: number): boolean =>
  state.count(proposals, { index: 'standingRetirement', prefix: text.toKey(String(programVersion)) }) > 0

/** The answers to an open proposal, of candidacies in the set or not. */
const answersTo = (state: StateReader, proposalId: ProposalId): RowOf<typeof answers> =>
  state.get(answers, { proposalId }) as RowOf<typeof answers>

/** The tally of these answers: the one counted before, while the set is the same. */
function tallyBy(powers: VotingPowers, { byCandidacy, counted }: RowOf<typeof answers>): Tally {
  if (counted?.powers === powers) return counted.tally
  let yes = 0
  let no = 0
  for (const [candidacyId, power] of powers.byCandidacy) {
    const answer = byCandidacy.get(candidacyId)
    if (answer === 'Y') yes += power
    if (answer === 'N') no += power
  }
  return { yes, no, total: powers.total }
}

/**
 * The votes on an open proposal of the current validator set by its powers. Cost: two rows in memory, and once after
 * each change of the set their 2 · max_vals entries. Source: protocol.md §6.
 */
export const tallyOf = (state: StateReader, { id }: Proposal): Tally =>
  tallyBy(getVotingPowers(state), answersTo(state, id))

/** Writes a vote on an open proposal in place of the candidacy's earlier one. */
export function putVote(state: State, vote: Vote): void {
  const { proposalId, candidacyId, answer } = vote
  const row = answersTo(state, proposalId)
  const { byCandidacy } = row
  const powers = getVotingPowers(state)
  const power = powers.byCandidacy.get(candidacyId) ?? 0
  const before = byCandidacy.get(candidacyId)
  const added = (side: Vote['answer']): number => (answer === side ? power : 0) - (before === side ? power : 0)
  const { yes, no, total } = tallyBy(powers, row)
  state.put(votes, vote)
  state.put(answers, {
    proposalId,
    byCandidacy: byCandidacy.with(candidacyId, answer, true),
    counted: { powers, tally: { yes: yes + added('Y'), no: no + added('N'), total } },
  })
}

/** Frees the memory of the answers to a proposal that was resolved: nobody tallies it any more. */
export const dropAnswers = (state: State, proposalId: ProposalId): void => state.remove(answers, { proposalId })

/**
 * Reads the answers to all open proposals into memory, so that no block has to wait for that. Cost: the votes on open
 * proposals.
 */
export function loadAnswers(state: StateReader): void {
  for (const { id } of state.scan(proposals, { index: 'openByCandidacy' })) answersTo(state, id)
}

/** All votes on a proposal by candidacy id. Bound: candidacies that were in the set while it was open; for queries. */
export const listVotes = (state: StateReader, proposalId: ProposalId): Iterable<Vote> =>
  state.scan(votes, { prefix: concat(proposalIdBytes(proposalId)) })

/** What became of a proposed library on this node, where it keeps that. */
export const libraryStatusOf = (state: StateReader, proposalId: ProposalId): LibraryStatus | undefined =>
  state.get(libraryStatus, { proposalId })?.status
