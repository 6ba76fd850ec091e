import { VerifyStatus } from '../abci/data.ts'
import type { Application } from '../abci/types.ts'
import { beginBlock } from './beginBlock.ts'
import { type AppOptions, makeChain } from './chain.ts'
import { checkTx } from './checkTx.ts'
import { commit } from './commit.ts'
import { deliverTx } from './deliverTx.ts'
import { endBlock } from './endBlock.ts'
import { finalizeBlock } from './finalizeBlock.ts'
import { info } from './info.ts'
import { initChain } from './initChain.ts'
import { prepareProposal } from './prepareProposal.ts'
import { processProposal } from './processProposal.ts'
import { query } from './query.ts'
import { snapshots } from './snapshots.ts'

/** The ABCI application on a store: one handler a method, both dialects. Vote extensions are off and answered empty. */
export function makeApp(options: AppOptions): Application {
  const chain = makeChain(options)
  return {
    info: info(chain),
    initChain: initChain(chain),
    query: query(chain),
    checkTx: checkTx(chain),
    prepareProposal: prepareProposal(chain),
    processProposal: processProposal(chain),
    extendVote: () => ({ voteExtension: new Uint8Array(0) }),
    verifyVoteExtension: () => ({ status: VerifyStatus.accept }),
    beginBlock: beginBlock(chain),
    deliverTx: deliverTx(chain),
    endBlock: endBlock(chain),
    finalizeBlock: finalizeBlock(chain),
    commit: commit(chain),
    ...snapshots(chain),
  }
}
