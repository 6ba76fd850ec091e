import { formatCount, shorten } from '../format.ts'
import { kindOf } from '../proposals/index.ts'
import { type OperationPage, pieceOf, textOf, proposalOf, resultOf } from './operation.ts'

/** The words for a vote's answers. A map, because a stranger's answer may be the name of what every object has. */
export const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['Y', 'yes'],
  ['N', 'no'],
])

export const vote: OperationPage<'vote'> = {
  title: 'Vote',
  words: (message) => [
    'vote ',
    ANSWERS.get(textOf(message, 'answer')) ?? pieceOf('stranger', message, 'answer'),
    ' on ',
    pieceOf('proposal', message, 'proposalId'),
  ],
  happened: ({ result = '', ...of }) => [
    'voted on ',
    proposalOf(of),
    result === '' ? '' : `, which ${resultOf(result)} with this vote`,
  ],
  sentence: ({ answer, proposalId }, { proposal, params }) => {
    const what = proposal === undefined ? '' : `, which ${kindOf(proposal.Type).effect(proposal.Detail, params)}`
    const number = proposal?.Number === undefined ? '' : `#${formatCount(proposal.Number)}, `
    return `Vote ${answer === 'Y' ? 'yes' : 'no'} on the proposal ${number}${shorten(proposalId)}${what}.`
  },
  due: (_, { proposal }) =>
    proposal && {
      name: 'Voting ends',
      height: proposal.ExpireTimestamp === undefined ? proposal.ExpireBlockHeight : undefined,
      time: proposal.ExpireTimestamp,
    },
  warning: ({ answer }, { proposal }) =>
    proposal !== undefined && answer === 'Y' ? kindOf(proposal.Type).warning : undefined,
  needs: ({ proposalId }) => ({ proposal: proposalId }),
  fields: { proposalId: { label: 'Proposal' }, answer: { label: 'Answer' } },
}
