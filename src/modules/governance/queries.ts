import { printProposalId, type ProposalId } from '../../base/pubKey.ts'
import { printTime } from '../../base/time.ts'
import { proposalId } from '../../values/key.ts'
import type { StateReader } from '../../store/state.ts'
import { badArgument, defineQuery, pageOf, type QueryAnswer, type QueryContext, type QueryError } from '../define.ts'
import { proposalKinds, type Tally, tallyOf } from './block.ts'
import { getProposal, libraryStatusOf, listProposals, listVotes } from './keeper.ts'
import type { Proposal } from './tables.ts'

/** All proposals by block, then index in the block. Source: interface, listProposals; protocol.md §6, §8. */
export const queryProposals = defineQuery({
  path: '/governance/proposals',
  doc: 'All proposals, the oldest first; `?limit=` and `?offset=` cut a page.',
  isList: true,
  run: ({ state }, _args, options) =>
    pageOf(listProposals(state), options, (proposal) => printProposal(state, proposal)),
})

/** A proposal with its votes and its tally: the last one once resolved, else as it is now. Source: protocol.md §8, §10. */
export const queryProposal = defineQuery({
  path: '/governance/proposal/<id>',
  doc: 'A proposal with Votes and Tally, null when there is none.',
  isList: true,
  run: proposalOfId,
})

function proposalOfId({ state }: QueryContext, [text = '']: readonly string[]): QueryAnswer | QueryError {
  const id = readProposalId(text)
  if (typeof id !== 'string') return id
  const proposal = getProposal(state, id)
  if (proposal === undefined) return { data: null }
  const { yes, no, total } = lastTally(state, proposal)
  return {
    data: {
      ...printProposal(state, proposal),
      Votes: printVotes(state, id),
      Tally: { Yes: yes, No: no, Total: total },
    },
  }
}

const lastTally = (state: StateReader, proposal: Proposal): Tally =>
  proposal.result === ''
    ? tallyOf(state, proposal)
    : { yes: proposal.yesPower, no: proposal.noPower, total: proposal.totalPower }

/** Votes on a proposal; an unknown one has none. Source: protocol.md §8. */
export const queryVotes = defineQuery({
  path: '/governance/votes/<id>',
  doc: 'Votes on a proposal: Voter, Answer, BlockHeight.',
  isList: true,
  run: ({ state }, [text = '']) => {
    const id = readProposalId(text)
    return typeof id === 'string' ? { data: printVotes(state, id) } : id
  },
})

/** The id in a path, URL-safe or standard base64, or why it is none. */
const readProposalId = (text: string): ProposalId | QueryError =>
  proposalId.parse(text) ??
  badArgument(`id: expected URL-safe base64 of 32 bytes, got ${JSON.stringify(text.slice(0, 60))}`)

/** Votes in candidacy order. */
const printVotes = (state: StateReader, id: ProposalId): readonly object[] =>
  [...listVotes(state, id)].map(({ voter, answer, blockHeight }) => ({
    Voter: voter,
    Answer: answer,
    BlockHeight: blockHeight,
  }))

/**
 * The proposal object of the interface; ExpireTimestamp (Unix seconds) only where a timestamp is the point. Source:
 * protocol.md §6.
 */
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
