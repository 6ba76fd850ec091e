import { printProposalId, proposalIdOf } from '../../../base/pubKey.ts'
import type { TxError } from '../../../base/txError.ts'
import { field, type MessageOf } from '../../../tx/fields.ts'
import { proposalId } from '../../../values/key.ts'
import { yesNoText } from '../../../values/text.ts'
import { defineTx, effects, type Outcome, type TxContext } from '../../define.ts'
import { decided, resolve, tallyOf } from '../block.ts'
import { governanceErrors } from '../errors.ts'
import { getProposal, putVote, voterIdOf } from '../keeper.ts'
import type { ProposalResult } from '../tables.ts'

const input = { proposalId: field(proposalId), answer: field(yesNoText) }

/** Two thirds of the power decide a proposal at once. Source: interface, vote; protocol.md §6. */
export const vote = defineTx({
  operation: 'vote',
  call: 'governance.vote',
  event: 'svc.governance.vote',
  doc: 'Votes on an open proposal; a later vote replaces an earlier one.',
  input,
  gas: (params) => params.governanceProposal,
  execute: executeVote,
})

/** Why a proposal of this Result takes no vote, or undefined while it takes them. */
const closed: Readonly<Record<ProposalResult, TxError | undefined>> = {
  '': undefined,
  Approved: governanceErrors.proposalApproved,
  Rejected: governanceErrors.proposalRejected,
  Expired: governanceErrors.proposalExpired,
}

function executeVote({ state, block, sender }: TxContext, message: MessageOf<typeof input>): Outcome {
  const candidacyId = voterIdOf(state, sender)
  if (typeof candidacyId !== 'number') return candidacyId
  const id = proposalIdOf(message.proposalId)
  const proposal = getProposal(state, id)
  if (proposal === undefined) return governanceErrors.unknownProposal
  const { answer } = message
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
}
