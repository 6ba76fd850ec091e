import { ProposalStatus } from '../abci/data.ts'
import type { Handler } from '../abci/types.ts'
import type { Chain } from './chain.ts'
import { makeGate } from './proposal.ts'

/** Rejects a block only for a transaction that fails checks 1 to 4 at its place. Source: protocol.md §2. */
export const processProposal = (chain: Chain): Handler<'processProposal'> => ({ txs }) =>
  ({ status: txs.every(makeGate(chain)) ? ProposalStatus.accept : ProposalStatus.reject })
