import type { EndBlockResponse, Handler } from '../abci/types.ts'
import { endBlock as runEndBlock } from '../modules/endBlock.ts'
import { type Chain, needOpen } from './chain.ts'
import { printEvents, printEvidence, printUpdates } from './convert.ts'

/** Runs the EndBlock duties of the open block and works out its app hash; nothing is written. */
export function closeBlock(chain: Chain): EndBlockResponse {
  const open = needOpen(chain, 'EndBlock')
  const end = runEndBlock(open.overlay, open.block, open.votes)
  open.end = end
  open.prepared = chain.options.store.prepare(open.overlay)
  return {
    events: printEvents(end.events),
    validatorUpdates: printUpdates(end.validatorUpdates),
    ...(end.evidenceParams === undefined
      ? {}
      : { consensusParamUpdates: { evidence: printEvidence(end.evidenceParams) } }),
  }
}

/** 0.37 dialect: the end of a decided block. */
export const endBlock =
  (chain: Chain): Handler<'endBlock'> =>
  () =>
    closeBlock(chain)
