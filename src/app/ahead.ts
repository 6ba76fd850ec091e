import { isDeepStrictEqual } from 'node:util'
import type { FinalizeBlockRequest, FinalizeBlockResponse, ProcessProposalRequest } from '../abci/types.ts'
import { equalBytes } from '../base/bytes.ts'
import type { Ahead, Chain } from './chain.ts'

/** True when the decided block is the proposal in everything that its outcome is a function of. */
function isSame(
  { txs, height, time, misbehavior, proposedLastCommit }: ProcessProposalRequest,
  decided: FinalizeBlockRequest,
): boolean {
  return (
    height === decided.height &&
    txs.length === decided.txs.length &&
    txs.every((tx, at) => equalBytes(tx, decided.txs[at] as Uint8Array)) &&
    isDeepStrictEqual(
      [time, misbehavior, proposedLastCommit],
      [decided.time, decided.misbehavior, decided.decidedLastCommit],
    )
  )
}

type Run = (decided: FinalizeBlockRequest) => FinalizeBlockResponse

/**
 * Runs an accepted proposal when its answer is on its way: CometBFT signs and writes its votes meanwhile, and
 * FinalizeBlock finds the block done. Nothing is written, and an outcome that FinalizeBlock does not ask for is
 * dropped. Not in the 0.37 dialect, which runs a block in parts. Source: decision record 0012.
 */
export function runAhead(chain: Chain, proposal: ProcessProposalRequest, run: Run): void {
  const { afterAnswer } = chain.options
  if (!chain.finalizes || afterAnswer === undefined) return
  const ahead: Ahead = { proposal }
  chain.ahead = ahead
  afterAnswer(() => {
    if (chain.ahead !== ahead) return
    try {
      const response = run({ ...proposal, decidedLastCommit: proposal.proposedLastCommit })
      if (chain.open !== undefined) ahead.done = { open: chain.open, response }
    } catch {
      // FinalizeBlock meets it again, and there it counts.
    } finally {
      chain.open = undefined
    }
  })
}

/**
 * The answer to a decided block that was run ahead, which is the open one from now on; undefined when it has to be run.
 */
export function takeAhead(chain: Chain, decided: FinalizeBlockRequest): FinalizeBlockResponse | undefined {
  const { ahead } = chain
  chain.ahead = undefined
  if (ahead?.done === undefined || !isSame(ahead.proposal, decided)) return undefined
  chain.open = ahead.done.open
  return ahead.done.response
}
