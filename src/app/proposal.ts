import { bytesInBlock } from '../abci/blockBytes.ts'
import {
  type PrepareProposalRequest,
  type PrepareProposalResponse,
  type ProcessProposalRequest,
  type ProcessProposalResponse,
  ProposalStatus,
} from '../abci/types.ts'
import type { Address } from '../values/address.ts'
import { nonceOf } from '../modules/accounts/keeper.ts'
import { getChain } from '../modules/chain/keeper.ts'
import { admit } from '../modules/kernel.ts'
import { runBlock } from './block.ts'
import { type AppContext, handOverAhead } from './context.ts'
import { runOptimistically } from './optimisticExecution.ts'

/**
 * A filter for the transactions of one proposal, to be called in their order: true when the next one passes checks 1 to
 * 4 at its place. These depend on the head and the proposal alone, and change no state. Source: protocol.md §2,
 * PrepareProposal.
 */
function createAdmissionFilter({ head: { state }, txCache }: AppContext): (bytes: Uint8Array) => boolean {
  const { chainId } = getChain(state)
  const next = new Map<Address, number>()
  const nextNonce = (sender: Address): number => next.get(sender) ?? nonceOf(state, sender)
  return (bytes) => {
    const { read } = txCache.read(bytes)
    if (read.sender === undefined || admit(read, chainId, nextNonce) !== undefined) return false
    txCache.keep(read)
    next.set(read.sender, nextNonce(read.sender) + 1)
    return true
  }
}

/**
 * Chooses the transactions of the block to propose: those that pass checks 1 to 4 at their place, in mempool order,
 * within max_tx_bytes. Source: protocol.md §2.
 */
export function prepareProposal(app: AppContext, request: PrepareProposalRequest): PrepareProposalResponse {
  const isAdmitted = createAdmissionFilter(app)
  const txs: Uint8Array[] = []
  let size = 0
  for (const tx of request.txs) {
    const next = size + bytesInBlock(tx.length)
    // A transaction that does not fit must not reach the filter: it leaves a gap in its sender's nonces, at which the
    // sender's later transactions then fail.
    if (next > request.maxTxBytes || !isAdmitted(tx)) continue
    size = next
    txs.push(tx)
  }
  return { txs }
}

/**
 * Accepts a proposal unless one of its transactions fails checks 1 to 4 at its place. An accepted proposal is executed
 * while the node votes on it. Source: protocol.md §2.
 */
export function processProposal(app: AppContext, proposal: ProcessProposalRequest): ProcessProposalResponse {
  const isAdmitted = createAdmissionFilter(app)
  const handOver = handOverAhead(app, proposal.txs)
  const areAdmitted = proposal.txs.every((tx, index) => {
    handOver(index)
    return isAdmitted(tx)
  })
  if (!areAdmitted) return { status: ProposalStatus.reject }
  runOptimistically(app, proposal, runBlock)
  return { status: ProposalStatus.accept }
}
