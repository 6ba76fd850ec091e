import { ProposalStatus } from '../abci/data.ts'
import type { Handler } from '../abci/types.ts'
import { runAhead } from './ahead.ts'
import type { Chain } from './chain.ts'
import { runBlock } from './finalizeBlock.ts'
import { makeGate } from './proposal.ts'

/**
 * Rejects a block only for a transaction that fails checks 1 to 4 at its place; runs ahead what it accepts. Source:
 * protocol.md §2.
 */
export const processProposal = (chain: Chain): Handler<'processProposal'> => {
  const run = runBlock(chain)
  return (proposal) => {
    if (!proposal.txs.every(makeGate(chain))) return { status: ProposalStatus.reject }
    runAhead(chain, proposal, run)
    return { status: ProposalStatus.accept }
  }
}
