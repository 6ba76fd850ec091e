import { bytesInBlock } from './blockBytes.ts'
import {
  ApplySnapshotChunkResult,
  type BaseApplication,
  OfferSnapshotResult,
  type PrepareProposalRequest,
  type PrepareProposalResponse,
  ProposalStatus,
  VerifyStatus,
} from './types.ts'

/** The transactions of the mempool in their order, up to the first one that does not fit. */
function prepareProposal({ txs, maxTxBytes }: PrepareProposalRequest): PrepareProposalResponse {
  let bytes = 0
  const end = txs.findIndex(({ length }) => (bytes += bytesInBlock(length)) > maxTxBytes)
  return { txs: end < 0 ? txs : txs.slice(0, end) }
}

/**
 * The handlers that answer where an application has none. They answer as CometBFT's own BaseApplication does, with two
 * exceptions. A query is refused, because nothing was read. State sync is aborted: Go's answer, `unknown`, counts as an
 * error of the application, and after `reject` the node would look for other snapshots for ever. Source:
 * abci/types/application.go and statesync/syncer.go of CometBFT 0.38.
 * @example prepareProposal: (request) => baseApplication.prepareProposal({ ...request, txs: request.txs.filter(isSigned) })
 */
export const baseApplication: BaseApplication = {
  info: () => ({}),
  initChain: () => ({}),
  query: () => ({ code: 1, log: 'this application answers no queries' }),
  checkTx: () => ({}),
  prepareProposal,
  processProposal: () => ({ status: ProposalStatus.accept }),
  extendVote: () => ({}),
  verifyVoteExtension: () => ({ status: VerifyStatus.accept }),
  finalizeBlock: ({ txs }) => ({ txResults: txs.map(() => ({})) }),
  commit: () => ({}),
  listSnapshots: () => ({}),
  offerSnapshot: () => ({ result: OfferSnapshotResult.abort }),
  loadSnapshotChunk: () => ({}),
  applySnapshotChunk: () => ({ result: ApplySnapshotChunkResult.abort }),
}
