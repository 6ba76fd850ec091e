import type { CompleteApplication, FinalizeBlockRequest, InitChainResponse } from '../../src/abci/types.ts'
import { TestChain } from '../support/testChain.ts'
import { type Random, randomGenesis } from './traffic.ts'

/** The request of InitChain. */
export type Init = Parameters<CompleteApplication['initChain']>[0]

/** A random chain, and the requests that it was made of. */
export interface RecordedChain {
  readonly chain: TestChain
  readonly answer: InitChainResponse
  readonly init: () => Init
  /** The last block that was finalized. */
  readonly lastBlock: () => FinalizeBlockRequest
}

/** Starts a chain whose blocks have parts of seconds, and last commits with votes for nil. */
export function startRecordedChain(next: Random): RecordedChain {
  const chain = new TestChain({ initialHeight: next(3) === 0 ? 2 + next(60) : 1 })
  const { app } = chain
  let init: Init | undefined
  let block: FinalizeBlockRequest | undefined
  const vary = ({ decidedLastCommit, time, ...rest }: FinalizeBlockRequest): FinalizeBlockRequest => ({
    ...rest,
    time: { seconds: time.seconds, nanos: next(1_000_000_000) },
    decidedLastCommit: {
      ...decidedLastCommit,
      votes: decidedLastCommit.votes.map((vote) =>
        vote.blockIdFlag === 2 && next(6) === 0 ? { ...vote, blockIdFlag: 3 } : vote,
      ),
    },
  })
  Object.assign(chain, {
    app: {
      ...app,
      initChain: (asked: Init) => app.initChain((init = asked)),
      finalizeBlock: (asked: FinalizeBlockRequest) => app.finalizeBlock((block = vary(asked))),
    },
  })
  const answer = chain.init(randomGenesis(next))
  return { chain, answer, init: () => init as Init, lastBlock: () => block as FinalizeBlockRequest }
}
