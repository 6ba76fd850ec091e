import { random } from '../../chain/support.ts'
import { type CampaignOptions, type CampaignReport, campaignReport } from '../../support/campaign.ts'
import { crashRound, lastCheck, makeBook, type Victim } from './crash.ts'
import { endLeftovers, makePlace } from './devnet.ts'

const PAUSE_MS_MAX = 700

/** Of 15 kills about ten are of the application, four of CometBFT, and one of the supervisor or of all three at once. */
function victimOf(next: (below: number) => number): Victim {
  const turn = next(30)
  if (turn < 20) return 'app'
  if (turn < 28) return 'node'
  return turn === 28 ? 'supervisor' : 'all'
}

/** What a campaign is told beside its options. */
interface Chaos {
  /** The home of the devnet: a folder that is not there yet. */
  readonly home: string
  readonly say?: (line: string) => void
  /** A faulty machine for the campaign to find: called with the home between two rounds, from 1, while nothing runs. */
  readonly disturb?: (home: string, round: number) => void
}

/**
 * Kills parts of a devnet by SIGKILL while transfers flow, `count` times, at moments of chance. After each restart
 * everything that was acknowledged is in the block that was told, balances add up, and app hashes agree. The seed gives
 * the victims and the moments.
 */
export function chaos({ count, seed }: CampaignOptions, { home, say, disturb }: Chaos): Promise<CampaignReport> {
  const next = random(seed)
  const about = {
    name: 'kills at random moments',
    target: 'after each, nothing acknowledged is missing, balances add up, and app hashes agree',
    seed,
  }
  return campaignReport(about, async (told) => {
    const place = await makePlace(home, '100ms')
    const book = makeBook()
    const killed = new Map<Victim, number>()
    try {
      for (let checked = 0; told.ran < count; told.ran++) {
        const victim = victimOf(next)
        const since = checked
        checked = book.acknowledged.size
        const pauseMs = next(PAUSE_MS_MAX)
        const { acknowledged, height } = await crashRound(place, book, victim, { pauseMs, since })
        killed.set(victim, (killed.get(victim) ?? 0) + 1)
        disturb?.(home, told.ran + 1)
        say?.(
          `${told.ran + 1}/${count} killed ${victim} after ${pauseMs} ms: ${acknowledged} acknowledged, ` +
            `head at least ${height}`,
        )
      }
      const head = await lastCheck(place, book)
      const parts = [...killed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([victim, times]) => `${victim} ${times}`)
      return `${book.acknowledged.size} acknowledged, none lost, head ${head}; killed: ${parts.join(', ')}`
    } finally {
      endLeftovers()
    }
  })
}
