import { evidenceParamsOf } from '../modules/endBlock.ts'
import { oldestSnapshot } from '../store/snapshot/folder.ts'
import type { Chain, OpenBlock } from './chain.ts'

/**
 * The lowest height whose block is still needed once this block is committed; 0 keeps all. It is kept as one of the
 * newest `keepBlocks`, as old as evidence may be, or not below the oldest snapshot: whoever takes that one needs the
 * blocks that follow it. Source: CometBFT's requirement 11 and decision record 0009.
 */
export function retainHeightOf({ options: { keepBlocks = 0, snapshots } }: Chain, { block, end }: OpenBlock): number {
  if (keepBlocks === 0) return 0
  const { height, params } = block
  // As the evidence parameters were last sent: a change that this block makes is in force in the next one, and was just
  // sent.
  const { maxAgeNumBlocks } = end?.evidenceParams ?? evidenceParamsOf(params.unstakeWaitPeriod, 0)
  const oldest = snapshots?.beginAt === undefined ? undefined : oldestSnapshot(snapshots.folder)
  return Math.max(0, Math.min(height - keepBlocks + 1, height - maxAgeNumBlocks, oldest ?? height))
}
