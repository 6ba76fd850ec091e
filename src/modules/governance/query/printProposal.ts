import { printTime } from '../../../base/time.ts'
import type { StateReader } from '../../../store/state.ts'
import { proposalKinds } from '../proposal/kinds.ts'
import { libraryStatus, type Proposal, type ProposalType } from '../tables.ts'

/**
 * The proposal object of the interface; ExpireTimestamp (Unix seconds) only where a timestamp is the point. Source:
 * protocol.md §6.
 */
export function printProposal(state: StateReader, proposal: Proposal): Record<string, unknown> {
  const { id, type, proposer, blockHeight, expireBlockHeight, expireTimestamp, createdAt } = proposal
  const { result, resultMsg, resultBlockHeight, resultAt } = proposal
  const status = type === 'deploy_libeni' ? state.get(libraryStatus, { proposalId: id })?.status : undefined
  return {
    Id: id,
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
    Detail: proposalKinds[type as ProposalType].detail(proposal, status),
  }
}
