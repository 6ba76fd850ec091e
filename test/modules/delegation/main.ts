/** Random delegations over the real state machine: `make delegation`. campaign.ts says what has to hold. */
import { runCampaigns } from '../../support/campaign.ts'
import { delegationProperties } from './campaign.ts'

await runCampaigns({ delegation: (options) => delegationProperties(options) }, 100_000)
