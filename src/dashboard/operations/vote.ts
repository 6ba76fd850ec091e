import { shorten } from '../format.ts'
import type { Facts } from '../wallet/facts.ts'
import { type OperationPage, pieceOf, textOf, tokens } from './operation.ts'
import { valueToday } from './proposeChangeParam.ts'
import { validatorsIn } from './proposeRetireProgram.ts'

/** What a proposal would do: `sets max_vals from 4 to 7`. */
function effectOf(proposal: NonNullable<Facts['proposal']>, params: Facts['params']): string {
  switch (proposal.Type) {
    case 'change_param':
      return `sets ${proposal.Detail.name} from ${valueToday(params, proposal.Detail.name)} to ${proposal.Detail.value}`
    case 'transfer_fund':
      return `pays ${tokens(proposal.Detail.amount)} from ${proposal.Detail.from} to ${proposal.Detail.to}`
    case 'deploy_libeni':
      return `deploys the library ${proposal.Detail.name} ${proposal.Detail.version}`
    case 'retire_program':
      return `retires the program and preserves ${validatorsIn(proposal.Detail.preserved_validators)}`
  }
}

const ANSWERS: Readonly<Record<string, string>> = { Y: 'yes', N: 'no' }

/** Votes on a proposal. */
export const vote: OperationPage<'vote'> = {
  title: 'Vote',
  words: (message) => [
    'vote ',
    ANSWERS[textOf(message, 'answer')] ?? pieceOf('stranger', message, 'answer'),
    ' on ',
    pieceOf('proposal', message, 'proposalId'),
  ],
  sentence: ({ answer, proposalId }, { proposal, params }) => {
    const what = proposal === undefined ? '' : `, which ${effectOf(proposal, params)}`
    return `Vote ${answer === 'Y' ? 'yes' : 'no'} on the proposal ${shorten(proposalId)}${what}.`
  },
  needs: ({ proposalId }) => ({ proposal: proposalId }),
  fields: { proposalId: { label: 'Proposal' }, answer: { label: 'Answer' } },
}
