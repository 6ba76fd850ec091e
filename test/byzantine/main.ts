/**
 * Participants that lie: `make byzantine`. `--count` is the number of networks with a validator that runs twice, 5 unless
 * told otherwise; the other campaigns are as many times larger as their cases are smaller. `--only double,reactors`
 * chooses some of them, and `--json FILE` keeps their reports. `forger` and `reactors` need Go for the strangers of
 * test/p2p.
 */
import { runCampaigns } from '../support/campaign.ts'
import { double } from './double.ts'
import { forgedBlocks, offersForReal } from './joins.ts'
import { offers } from './offers.ts'
import { proposer } from './proposer.ts'
import { reactors } from './reactors.ts'

await runCampaigns(
  {
    double: (options) => double(options),
    proposer: ({ count, seed }) => proposer({ count: count * 20, seed }),
    forger: async ({ count, seed }) => [
      await offers({ count: count * 200, seed }),
      await offersForReal(Math.ceil(count / 5)),
      await forgedBlocks(Math.ceil(count / 5)),
    ],
    reactors: ({ count, seed }) => reactors({ count: count * 2_000, seed }),
  },
  5,
)
