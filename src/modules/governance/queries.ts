import { pascalCase } from '../../base/pascalCase.ts'
import { type ProposalId, proposalId } from '../../values/pubKey.ts'
import type { StateReader } from '../../store/state.ts'
import { field, optional } from '../../tx/fields.ts'
import { address } from '../../values/address.ts'
import { uint } from '../../values/number.ts'
import { listOf, maybe, type Members, orNull, record, type ShapeValue, variants } from '../../values/shape.ts'
import { choiceOf, enumOf, flag, text, yesNo } from '../../values/text.ts'
import { time } from '../../values/time.ts'
import { defineListQuery, defineQuery, page, pageOf, type QueryEntry } from '../query.ts'
import { getById } from '../stake/keeper.ts'
import { proposalKinds } from '../gen/proposalKinds.ts'
import { PROPOSAL_TYPES } from '../gen/proposalTypes.ts'
import {
  countProposals,
  getProposal,
  libraryStatusOf,
  listProposals,
  listVotes,
  numberOf,
  type ProposalFilter,
  tallyOf,
} from './keeper.ts'
import { type Proposal, PROPOSAL_RESULTS, proposalResult, type ProposalType } from './tables.ts'

/** A proposal object of a kind. Source: interface, Proposal object; protocol.md §6 for ExpireTimestamp. */
const proposalOf = <const M extends Members>(type: ProposalType, name: string, more: M) =>
  record(`${name}${pascalCase(type)}`, {
    Id: proposalId,
    Type: enumOf(type),
    Proposer: address,
    BlockHeight: uint,
    ExpireBlockHeight: uint,
    ExpireTimestamp: maybe(uint),
    CreatedAt: time,
    Result: proposalResult,
    ResultMsg: text,
    ResultBlockHeight: uint,
    ResultAt: time,
    Detail: proposalKinds[type].shape,
    ...more,
  })

const proposalsOf = <const M extends Members>(name: string, more: M) =>
  variants(
    name,
    'Type',
    Object.fromEntries(PROPOSAL_TYPES.map((type) => [type, proposalOf(type, name, more)])) as Readonly<
      Record<ProposalType, ReturnType<typeof proposalOf<M>>>
    >,
  )

const tally = record(undefined, { Yes: uint, No: uint, Total: uint })

const proposal = proposalsOf('Proposal', { Number: maybe(uint), Tally: maybe(tally) })

/** A vote belongs to a candidacy: Voter owned it then, and Owner, which comes with counts, owns it now. */
const vote = record(undefined, { Voter: address, Answer: yesNo, BlockHeight: uint, Owner: maybe(address) })

/** Source: protocol.md §10, svc_queryProposal. */
const proposalWithVotes = proposalsOf('ProposalWithVotes', {
  Number: maybe(uint),
  Votes: listOf(vote),
  Tally: tally,
})

const counts = optional(
  field(flag, 'whether its Number, counted from the first one, comes too, and who owns the candidacy of each vote'),
)

/** How many chosen proposals of an answer are counted one by one. A page of a list has no more. */
const COUNTED_EACH_MAX = 20

/**
 * How the proposals of a list are numbered. Of all of them the place in the list tells it. Of chosen ones the first are
 * counted each, which reads an index up to it. The others are found on one walk of all proposals: to count each of them
 * too would cost the length of the answer times the number of all.
 */
function numbering(
  state: StateReader,
  { type, result }: ProposalFilter,
  newest = false,
): (one: Proposal, at: number) => number {
  const all = newest ? countProposals(state, {}) : 0
  const numberAt = (at: number): number => (newest ? all - at : at + 1)
  if (type === undefined && result === undefined) return (_one, at) => numberAt(at)
  const walk = listProposals(state, {}, newest)[Symbol.iterator]()
  let [numbered, walked] = [0, 0]
  return (one) => {
    if (numbered++ < COUNTED_EACH_MAX) return numberOf(state, one)
    // A proposal that is chosen is one of all, so the walk ends at it.
    while (walk.next().value?.id !== one.id) walked++
    return numberAt(walked++)
  }
}

/** What chooses among the proposals. */
const choices = {
  newest: optional(field(flag, 'whether the newest come first')),
  state: optional(
    field(choiceOf('proposalState', 'only those that are open, or have this Result', ['open', ...PROPOSAL_RESULTS])),
  ),
  type: optional(field(choiceOf('proposalType', 'only those of this Type', PROPOSAL_TYPES))),
}

/** The paths under `/governance/`. Source: interface, listProposals; protocol.md §6, §8, §10. */
export const governanceQueries: readonly QueryEntry[] = [
  defineListQuery({
    method: 'svc_queryProposals',
    call: 'governance.listProposals',
    path: '/governance/proposals',
    doc: 'All proposals, the oldest first; newest, state and type choose among them, and then total counts the chosen ones.',
    input: {
      ...page,
      ...choices,
      counts: optional(field(flag, 'whether each comes with its Number, counted from the first one, and its Tally')),
    },
    positional: 0,
    isCounted: true,
    item: proposal,
    // Cost: the rows up to the end of the page, and counting in an index; with counts a tally of each row, and for chosen
    // ones COUNTED_EACH_MAX counts, and one walk of all proposals where the page has more of them.
    run: ({ state }, { newest, state: result, type, counts: isCounted = false, ...given }) => {
      const filter = { type, result: result === 'open' ? '' : result } as const
      const numberAt = isCounted ? numbering(state, filter, newest) : undefined
      const isChosen = newest !== undefined || result !== undefined || type !== undefined
      return {
        items: pageOf(listProposals(state, filter, newest), given, (one, at) => ({
          ...proposalIn(state, one),
          ...(numberAt && { Number: numberAt(one, at), Tally: lastTally(state, one) }),
        })),
        ...(isChosen && { total: countProposals(state, filter) }),
      }
    },
  }),
  defineQuery({
    method: 'svc_queryProposal',
    call: 'governance.queryProposal',
    path: '/governance/proposal/<id>',
    doc: 'A proposal with its votes and tally, data null when it is unknown.',
    input: { proposalId: field(proposalId), counts },
    positional: 1,
    isList: true,
    result: orNull(proposalWithVotes),
    run: ({ state }, { proposalId: id, counts: isCounted = false }) => {
      const found = getProposal(state, id)
      return (
        found && {
          ...proposalIn(state, found),
          ...(isCounted && { Number: numberOf(state, found) }),
          Votes: votesOn(state, id, isCounted),
          Tally: lastTally(state, found),
        }
      )
    },
  }),
  defineQuery({
    path: '/governance/votes/<id>',
    doc: 'Votes on a proposal: Voter, Answer, BlockHeight.',
    input: { proposalId: field(proposalId) },
    isList: true,
    result: listOf(vote),
    run: ({ state }, { proposalId: id }) => votesOn(state, id),
  }),
]

/** The tally of a proposal: the last one once it is resolved, else as it is now. */
function lastTally(state: StateReader, one: Proposal) {
  const { result, yesPower, noPower, totalPower } = one
  const { yes, no, total } = result === '' ? tallyOf(state, one) : { yes: yesPower, no: noPower, total: totalPower }
  return { Yes: yes, No: no, Total: total }
}

/** Votes in candidacy order. With owners each names who owns its candidacy now, unless its record was replaced. */
const votesOn = (state: StateReader, id: ProposalId, withOwners = false): readonly ShapeValue<typeof vote>[] =>
  [...listVotes(state, id)].map(({ candidacyId, voter, answer, blockHeight }) => ({
    Voter: voter,
    Answer: answer,
    BlockHeight: blockHeight,
    Owner: withOwners ? getById(state, candidacyId)?.ownerAddress : undefined,
  }))

/** ExpireTimestamp only where the point is a time. Source: protocol.md §6. */
function proposalIn(state: StateReader, one: Proposal): ShapeValue<typeof proposal> {
  const { id, type, proposer, blockHeight, expireBlockHeight, expireTimestamp, createdAt } = one
  const { result, resultMsg, resultBlockHeight, resultAt } = one
  const libraryStatus = type === 'deploy_libeni' ? libraryStatusOf(state, id) : undefined
  return {
    Id: id,
    Type: type,
    Proposer: proposer,
    BlockHeight: blockHeight,
    ExpireBlockHeight: expireBlockHeight,
    ExpireTimestamp: expireBlockHeight === 0 ? expireTimestamp : undefined,
    CreatedAt: createdAt,
    Result: result,
    ResultMsg: resultMsg,
    ResultBlockHeight: resultBlockHeight,
    ResultAt: result === '' ? '' : resultAt,
    Detail: proposalKinds[type].detail(one, libraryStatus),
  }
}
