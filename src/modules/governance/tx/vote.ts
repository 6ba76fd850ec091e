import { printProposalId, proposalId } from '../../../values/pubKey.ts'
import type { TxError } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { yesNoText } from '../../../values/text.ts'
import { defineTx, effects } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { decided, resolve } from '../block.ts'
import { governanceErrors } from '../errors.ts'
import { getProposal, putVote, tallyOf, voterIdOf } from '../keeper.ts'
import type { ProposalResult } from '../tables.ts'

/** Two thirds of the power decide a proposal at once. Source: interface, vote; protocol.md §6. */
export const vote = defineTx({
  operation: 'vote',
  call: 'governance.vote',
  event: defineEvent({
    type: 'svc.governance.vote',
    attributes: ['proposal_id'],
    optional: ['result'],
    doc: 'An owner voted; `result` where the vote decided the proposal.',
  }),
  doc: 'Votes on an open proposal; a later vote replaces an earlier one.',
  input: { proposalId: field(proposalId), answer: field(yesNoText) },
  gas: (params) => params.governanceProposal,
  execute: ({ state, block, sender }, { proposalId: id, answer }) => {
    const candidacyId = voterIdOf(state, sender)
    if (typeof candidacyId !== 'number') return candidacyId
    const proposal = getProposal(state, id)
    if (proposal === undefined) return governanceErrors.unknownProposal
    if (answer !== 'Y' && answer !== 'N') return governanceErrors.invalidAnswer
    const refused = closed[proposal.result]
    if (refused !== undefined) return refused
    return effects(() => {
      putVote(state, { proposalId: id, candidacyId, voter: sender, answer, blockHeight: block.height })
      const tally = tallyOf(state, proposal)
      const result = decided(tally)
      const after = result === '' ? proposal : resolve(state, block, proposal, result, tally)
      const attributes = { proposal_id: printProposalId(id) }
      return {
        attributes: after.result === '' ? attributes : { ...attributes, result: after.result },
        validators: [sender],
      }
    })
  },
})

/** Why a proposal of this Result takes no vote, or undefined while it takes them. */
const closed: Readonly<Record<ProposalResult, TxError | undefined>> = {
  '': undefined,
  Approved: governanceErrors.proposalApproved,
  Rejected: governanceErrors.proposalRejected,
  Expired: governanceErrors.proposalExpired,
}
