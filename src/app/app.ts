import { baseApplication } from '../abci/baseApplication.ts'
import type { CompleteApplication } from '../abci/types.ts'
import { beginBlock, commit, deliverTx, endBlock, finalizeBlock } from './block.ts'
import { type AppOptions, createContext } from './context.ts'
import { info, initChain } from './genesis.ts'
import { checkTx, createTxCache, TX_CACHE_BYTES_MAX } from './mempool.ts'
import { prepareProposal, processProposal } from './proposal.ts'
import { query } from './query.ts'
import { snapshotHandlers } from './snapshots.ts'

/** The ABCI application on a store, for both dialects. Vote extensions are off: a vote has an empty one, and any is accepted. */
export function createApp(options: AppOptions): CompleteApplication {
  const app = createContext(options, createTxCache(TX_CACHE_BYTES_MAX, options.signatures?.isSigned))
  return {
    ...snapshotHandlers(app),
    info: () => info(app),
    initChain: (request) => initChain(app, request),
    query: (request) => query(app, request),
    checkTx: (request) => checkTx(app, request),
    prepareProposal: (request) => prepareProposal(app, request),
    processProposal: (request) => processProposal(app, request),
    extendVote: baseApplication.extendVote,
    verifyVoteExtension: baseApplication.verifyVoteExtension,
    beginBlock: (request) => beginBlock(app, request),
    deliverTx: (request) => deliverTx(app, request),
    endBlock: () => endBlock(app),
    finalizeBlock: (request) => finalizeBlock(app, request),
    commit: () => commit(app),
  }
}
