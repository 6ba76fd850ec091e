import { type CampaignOptions, type CampaignReport, campaignReport } from '../support/campaign.ts'
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
export function model(
  { count, seed }: CampaignOptions,
  met: Met = new Map(),
  altered?: Alteration,
): Promise<CampaignReport> {
  const perChain = Math.max(1, Math.min(CHAIN_TXS, Math.ceil(count / CHAINS_MIN)))
  const about = { name: 'model', target: 'every block leads where docs/protocol.md says', seed }
  return campaignReport(about, async (told) => {
    let chains = 0
    for (; told.ran < count; chains++) told.ran += await compareChain(seed + chains, perChain, met, altered)
    return `no difference on ${chains} chains`
  })
}
