/**
 * Three replicas as processes: `make replicas`. `--count` is the number of heights, 100,000 unless told otherwise, on a
 * new random chain for each 2,000 of them. Node programs that are not there are downloaded from npm into .cache/node.
 * `--json FILE` keeps the report.
 */
import { runCampaigns } from '../support/campaign.ts'
import { replicas } from './campaign.ts'
import { fetchNode, VERSIONS } from './nodes.ts'

await runCampaigns({ replicas: (options) => replicas(options, VERSIONS.map(fetchNode)) }, 100_000)
