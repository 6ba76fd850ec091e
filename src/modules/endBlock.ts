import type { State } from '../store/state.ts'
import { getChain, putLastBlock } from './chain/keeper.ts'
import type { Block } from './define.ts'
import type { ChainEvent } from './event.ts'
import { reachPoints } from './governance/block.ts'
import { changeAt } from './params/keeper.ts'
import {
  type CommitVote,
  evidenceBlocksMax,
  payAward,
  payUnbonded,
  removeAbsent,
  updateSet,
  type ValidatorUpdate,
} from './stake/block.ts'

/** Evidence parameters of CometBFT: sent whole, as a group replaces all its members. */
export interface EvidenceParams {
  readonly maxAgeNumBlocks: number
  readonly maxAgeDuration: { readonly seconds: number; readonly nanos: number }
  readonly maxBytes: number
}

/** What EndBlock tells CometBFT and the node. */
export interface EndOfBlock {
  readonly events: readonly ChainEvent[]
  readonly validatorUpdates: readonly ValidatorUpdate[]
  readonly evidenceParams: EvidenceParams | undefined
  /** The program version that was retired in this block: after its commit the program stops. */
  readonly retiredVersion: number | undefined
}

/** The evidence parameters that belong to an unstake_wait_period. Blocks decide, not time. Source: protocol.md §4. */
export const evidenceParamsOf = (unstakeWaitPeriod: number, maxBytes: number): EvidenceParams => ({
  maxAgeNumBlocks: evidenceBlocksMax(unstakeWaitPeriod),
  maxAgeDuration: { seconds: 1, nanos: 0 },
  maxBytes,
})

/** EndBlock, steps (a) to (f) in order. Source: protocol.md §2, Order inside a block. */
export function endBlock(state: State, block: Block, votes: readonly CommitVote[]): EndOfBlock {
  const reached = reachPoints(state, block)
  const removed = removeAbsent(state, block, votes)
  const awarded = payAward(state, block, votes)
  const unbonded = payUnbonded(state, block)
  const { updates, events } = updateSet(state, block, votes)
  const period = changeAt(state, 'unstake_wait_period', block.height + 1)
  const evidenceParams =
    period === undefined ? undefined : evidenceParamsOf(Number(period), getChain(state).evidenceMaxBytes)
  putLastBlock(state, block.height, block.timeMs)
  return {
    events: [...reached.events, ...removed, ...awarded, ...unbonded, ...events],
    validatorUpdates: updates,
    evidenceParams,
    retiredVersion: reached.retiredVersion,
  }
}
