import type { ExecTxResult, Handler } from '../abci/types.ts'
import { openBlock } from './beginBlock.ts'
import { type Chain, needOpen } from './chain.ts'
import { offencesOf, timeMsOf, votesOf } from './convert.ts'
import { deliverTx } from './deliverTx.ts'
import { closeBlock } from './endBlock.ts'

/** Runs a decided block: BeginBlock, each DeliverTx, EndBlock, in order. Writes nothing: Commit does. */
export const finalizeBlock = (chain: Chain): Handler<'finalizeBlock'> => {
  const deliver = deliverTx(chain)
  return ({ height, time, decidedLastCommit, misbehavior, txs }) => {
    const begun = openBlock(chain, { height, timeMs: timeMsOf(time), votes: votesOf(decidedLastCommit), offences: offencesOf(misbehavior) })
    const txResults = txs.map((tx) => deliver({ tx }) as ExecTxResult)
    const { events = [], ...ended } = closeBlock(chain)
    const { prepared } = needOpen(chain, 'FinalizeBlock')
    if (prepared === undefined) throw new Error(`block ${height} ended without an app hash`)
    return { ...ended, events: [...begun, ...events], txResults, appHash: prepared.appHash }
  }
}
