import { random } from '../chain/support.ts'
import { type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { runApplication } from './application.ts'
import { HEAD, withChain } from './chain.ts'
import type { Fault } from './fault.ts'

/**
 * Runs chains while the clock of the application jumps a day ahead and then to a day behind, `count` times at another
 * block. Every app hash and the rows at the head are those of the undisturbed replica. `faulty`: a mistake for the
 * campaign to find.
 */
export function clock({ count, seed }: CampaignOptions, faulty: Fault = {}): Promise<CampaignReport> {
  const next = random(seed)
  const about = {
    name: 'clock',
    target: 'the state does not depend on the clock of the machine, which jumps a day ahead and behind',
    seed,
  }
  return campaignReport(about, (told) =>
    withChain('clock', async (chain) => {
      for (; told.ran < count; told.ran++) {
        const home = chain.newHome()
        // Two replies a block, so that both jumps come before the head.
        const run = await runApplication({ home, fault: { ...faulty, clockAfter: 1 + next(HEAD) } })
        need(run.isComplete && run.status === 0, () => `it ended with ${run.signal ?? run.status}: ${run.stderr}`)
        need(/the clock was -86400000 ms off at the end of [1-9]/.test(run.stdout), () => `the clock: ${run.stdout}`)
        chain.checkHead(home)
      }
      return 'held in every run'
    }),
  )
}
