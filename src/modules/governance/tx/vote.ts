import { proposalIdOf } from '../../../base/pubKey.ts'
import { proposalId, ruledText } from '../../../tx/members.ts'
import { defineTx, effects } from '../../define.ts'
import { governanceErrors } from '../errors.ts'
import { getProposal, putVote, validatorIdOf } from '../keeper.ts'
import { resolve } from '../resolve.ts'
import type { ProposalResult } from '../tables.ts'
import { decided, tallyOf } from '../tally.ts'
import { votable } from '../transitions.ts'

/**
 * Votes Y or N on an open proposal; two thirds of the power decide it at once. Source: interface, vote; protocol.md §6.
 */
export const vote = defineTx({
  operation: 'vote',
  method: 'svc_vote',
  call: 'governance.vote',
  event: 'svc.governance.vote',
  doc: 'Votes on an open proposal; a later vote replaces an earlier one.',
  input: { proposalId: proposalId(), answer: ruledText('Y or N') },
  gas: (params) => params.governanceProposal,
  execute: ({ state, block, sender }, message) => {
    const candidacyId = validatorIdOf(state, sender)
    if (typeof candidacyId !== 'number') return candidacyId
    const id = proposalIdOf(message.proposalId)
    const proposal = getProposal(state, id)
    if (proposal === undefined) return governanceErrors.unknownProposal
    if (message.answer !== 'Y' && message.answer !== 'N') return governanceErrors.invalidAnswer
    const closed = votable[proposal.result as ProposalResult]
    if (closed !== undefined) return closed
    return effects(() => {
      putVote(state, { proposalId: id, candidacyId, voter: sender, answer: message.answer, blockHeight: block.height })
      const tally = tallyOf(state, proposal)
      const result = decided(tally)
      const after = result === '' ? proposal : resolve(state, block, proposal, result, tally)
      return { attributes: [['proposal_id', id], ...(after.result === '' ? [] : [['result', after.result] as const])] }
    })
  },
})
