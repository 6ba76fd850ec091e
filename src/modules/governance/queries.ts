import { printProposalId, type ProposalId } from '../../base/pubKey.ts'
import { printTime } from '../../base/time.ts'
import { proposalId } from '../../values/key.ts'
import type { StateReader } from '../../store/state.ts'
import { pageOf, type QueryAnswer, type QueryEntry, type QueryError } from '../define.ts'
import { kernelErrors } from '../errors.ts'
import { proposalKinds, tallyOf } from './block.ts'
import { getProposal, libraryStatusOf, listProposals, listVotes } from './keeper.ts'
import type { Proposal } from './tables.ts'

/** The paths under `/governance/`. Source: interface, listProposals; protocol.md §6, §8, §10. */
export const governanceQueries: readonly QueryEntry[] = [
  {
    path: '/governance/proposals',
    doc: 'All proposals, the oldest first; `?limit=` and `?offset=` cut a page.',
    isList: true,
    run: ({ state }, _args, options) =>
      pageOf(listProposals(state), options, (proposal) => printProposal(state, proposal)),
  },
  {
    path: '/governance/proposal/<id>',
    doc: 'A proposal with Votes and Tally, null when there is none.',
    isList: true,
    run: ({ state }, [text = '']) => withId(text, (id) => printWithVotes(state, getProposal(state, id))),
  },
  {
    path: '/governance/votes/<id>',
    doc: 'Votes on a proposal: Voter, Answer, BlockHeight.',
    isList: true,
    run: ({ state }, [text = '']) => withId(text, (id) => printVotes(state, id)),
  },
]

/** Answers with what `read` finds for the id in a path, URL-safe or standard base64. */
function withId(text: string, read: (id: ProposalId) => unknown): QueryAnswer | QueryError {
  const id = proposalId.parse(text)
  return id === undefined
    ? kernelErrors.badArgument(`id: expected URL-safe base64 of 32 bytes, got ${JSON.stringify(text.slice(0, 60))}`)
    : { data: read(id) }
}

/** A proposal with its votes and its tally: the last one once it is resolved, else as it is now. */
function printWithVotes(state: StateReader, proposal: Proposal | undefined): object | null {
  if (proposal === undefined) return null
  const { id, result, yesPower, noPower, totalPower } = proposal
  const { yes, no, total } =
    result === '' ? tallyOf(state, proposal) : { yes: yesPower, no: noPower, total: totalPower }
  return { ...printProposal(state, proposal), Votes: printVotes(state, id), Tally: { Yes: yes, No: no, Total: total } }
}

/** Votes in candidacy order. */
const printVotes = (state: StateReader, id: ProposalId): readonly object[] =>
  [...listVotes(state, id)].map(({ voter, answer, blockHeight }) => ({
    Voter: voter,
    Answer: answer,
    BlockHeight: blockHeight,
  }))

/** The proposal object of the interface; ExpireTimestamp only where the point is a time. Source: protocol.md §6. */
export function printProposal(state: StateReader, proposal: Proposal): Record<string, unknown> {
  const { id, type, proposer, blockHeight, expireBlockHeight, expireTimestamp, createdAt } = proposal
  const { result, resultMsg, resultBlockHeight, resultAt } = proposal
  const libraryStatus = type === 'deploy_libeni' ? libraryStatusOf(state, id) : undefined
  return {
    Id: printProposalId(id),
    Type: type,
    Proposer: proposer,
    BlockHeight: blockHeight,
    ExpireBlockHeight: expireBlockHeight,
    ...(expireBlockHeight === 0 ? { ExpireTimestamp: expireTimestamp } : {}),
    CreatedAt: printTime(createdAt),
    Result: result,
    ResultMsg: resultMsg,
    ResultBlockHeight: resultBlockHeight,
    ResultAt: result === '' ? '' : printTime(resultAt),
    Detail: proposalKinds[type].detail(proposal, libraryStatus),
  }
}
