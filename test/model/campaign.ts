import type { CampaignOptions, CampaignReport } from '../support/campaign.ts'
import { Difference } from './answers.ts'
import type { Alteration } from './protocol/state.ts'
import { compareChain, type Met } from './run.ts'

/** Transactions of one chain. A run has at least `CHAINS_MIN` chains, however few its transactions are. */
const CHAIN_TXS = 2_000
const CHAINS_MIN = 3

/**
 * Random chains beside a model that was written from docs/protocol.md alone: after every block the results, events,
 * validator updates and every row are equal, and so is the app hash of a second replica that is restarted, rolled back,
 * run ahead and restored from snapshots. The invariants of test/sim hold. `met`: gets what the chains met.
 */
export async function model(
  { count, seed }: CampaignOptions,
  met: Met = new Map(),
  altered?: Alteration,
): Promise<CampaignReport> {
  const perChain = Math.max(1, Math.min(CHAIN_TXS, Math.ceil(count / CHAINS_MIN)))
  const report = { name: 'model', target: 'every block leads where docs/protocol.md says', seed }
  let ran = 0
  let chains = 0
  try {
    for (; ran < count; chains++) ran += await compareChain(seed + chains, perChain, met, altered)
    return { ...report, ran, result: `no difference on ${chains} chains`, passed: true }
  } catch (thrown) {
    if (!(thrown instanceof Difference)) throw thrown
    return { ...report, ran, result: thrown.message, passed: false }
  }
}
