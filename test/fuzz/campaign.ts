import { setImmediate as turn } from 'node:timers/promises'
import { type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { usedBytes } from '../support/usedBytes.ts'

const CASES_OF_TURN = 64
/** What a campaign may leave in memory. */
const GROWTH_BYTES_MAX = 50 * 1024 * 1024

/**
 * Runs cases until there were `count`, each by `runCase`, which returns how many it was and throws at the first that
 * breaks the target. Memory in use may not have grown by more than 50 MiB at the end.
 */
export function runCases(
  about: Pick<CampaignReport, 'name' | 'target'> & { readonly seed: number },
  count: number,
  runCase: () => number | Promise<number>,
): Promise<CampaignReport> {
  return campaignReport(about, async (told) => {
    const run = async (until: number): Promise<void> => {
      for (let cases = 1; told.ran < until; cases++) {
        told.ran += await runCase()
        // What the cases left for the next turn is done.
        if (cases % CASES_OF_TURN === 0) await turn()
      }
    }
    // What is compiled and allocated once is there after the first ones.
    await run(count / 10)
    const before = usedBytes()
    await run(count)
    const grown = usedBytes() - before
    const growth = `memory grew by ${(Math.max(0, grown) / 1e6).toFixed(1)} MB`
    need(grown < GROWTH_BYTES_MAX, () => growth)
    return `held in every case, ${growth}`
  })
}
