import type { ExecTxResult, FinalizeBlockRequest, FinalizeBlockResponse, Handler } from '../abci/types.ts'
import { takeAhead } from './ahead.ts'
import { openBlock } from './beginBlock.ts'
import { type Chain, needOpen } from './chain.ts'
import { offencesOf, timeMsOf, votesOf } from './convert.ts'
import { deliverTx } from './deliverTx.ts'
import { closeBlock } from './endBlock.ts'

/** Runs a whole block: BeginBlock, each DeliverTx, EndBlock, in order. Writes nothing: Commit does. */
export const runBlock = (chain: Chain): ((block: FinalizeBlockRequest) => FinalizeBlockResponse) => {
  const deliver = deliverTx(chain)
  return ({ height, time, decidedLastCommit, misbehavior, txs }) => {
    const begun = openBlock(chain, {
      height,
      timeMs: timeMsOf(time),
      votes: votesOf(decidedLastCommit),
      offences: offencesOf(misbehavior),
    })
    const txResults = txs.map((tx) => deliver({ tx }) as ExecTxResult)
    const { events = [], ...ended } = closeBlock(chain)
    const { prepared } = needOpen(chain, 'FinalizeBlock')
    if (prepared === undefined) throw new Error(`block ${height} ended without an app hash`)
    return { ...ended, events: [...begun, ...events], txResults, appHash: prepared.appHash }
  }
}

/** Answers for a decided block: with what it was run to ahead, or runs it now. */
export const finalizeBlock = (chain: Chain): Handler<'finalizeBlock'> => {
  const run = runBlock(chain)
  return (decided) => {
    chain.finalizes = true
    return takeAhead(chain, decided) ?? run(decided)
  }
}
