import { printProposalId, type ProposalId } from '../../base/pubKey.ts'
import { show } from '../../base/json.ts'
import { printTime } from '../../base/time.ts'
import { proposalId } from '../../values/key.ts'
import type { StateReader } from '../../store/state.ts'
import {
  pageOf,
  type QueryAnswer,
  type QueryContext,
  type QueryEntry,
  type QueryError,
  type QueryOptions,
} from '../define.ts'
import { kernelErrors } from '../errors.ts'
import { proposalKinds, tallyOf } from './block.ts'
import { countProposals, getProposal, libraryStatusOf, listProposals, listVotes } from './keeper.ts'
import { type Proposal, PROPOSAL_TYPES, type ProposalResult, type ProposalType } from './tables.ts'

/** The paths under `/governance/`. Source: interface, listProposals; protocol.md §6, §8, §10. */
export const governanceQueries: readonly QueryEntry[] = [
  {
    path: '/governance/proposals',
    doc: 'All proposals, the oldest first; `?limit=` and `?offset=` cut a page, `?newest=`, `?state=` and `?type=` choose.',
    isList: true,
    run: proposalsOf,
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

// What the options that choose proposals may say.
const NEWEST = new Map([
  ['true', true],
  ['false', false],
])
const STATES = new Map<string, ProposalResult>([
  ['open', ''],
  ['Approved', 'Approved'],
  ['Rejected', 'Rejected'],
  ['Expired', 'Expired'],
])
const TYPES = new Map<string, ProposalType>(PROPOSAL_TYPES.map((type) => [type, type]))
const CHOICES = [
  ['newest', NEWEST],
  ['state', STATES],
  ['type', TYPES],
] as const

/**
 * A page of the proposals that the options choose, with the number of all of them where an option is given. Cost: the
 * rows up to the end of the page, and counting in an index.
 */
function proposalsOf(
  { state }: QueryContext,
  _args: readonly string[],
  options: QueryOptions,
): QueryAnswer | QueryError {
  for (const [name, values] of CHOICES) {
    const text = options.get(name)
    if (text !== undefined && !values.has(text))
      return kernelErrors.badArgument(`${name}: expected one of ${[...values.keys()].join(', ')}, got ${show(text)}`)
  }
  const chosen = <V>(name: string, values: ReadonlyMap<string, V>): V | undefined => values.get(options.get(name) ?? '')
  const filter = { type: chosen('type', TYPES), result: chosen('state', STATES) }
  const names = CHOICES.map(([name]) => name)
  const print = (proposal: Proposal): object => printProposal(state, proposal)
  const page = pageOf(listProposals(state, filter, chosen('newest', NEWEST)), options, print, names)
  if ('code' in page || !names.some((name) => options.has(name))) return page
  return { ...page, total: countProposals(state, filter) }
}

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
