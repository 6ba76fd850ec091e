/**
 * The application beside a model of docs/protocol.md: `make model`. Runs `--count` transactions, 100,000 unless told
 * otherwise, on a new random chain for each 2,000 of them. The chains have the numbers `--seed` and up, with which they
 * come again. `--json FILE` keeps the report. The first difference is told, with the number of its chain.
 */
import { runCampaigns } from '../support/campaign.ts'
import { model } from './campaign.ts'
import type { Met } from './run.ts'

const met: Met = new Map()
await runCampaigns({ model: (options) => model(options, met) }, 100_000)
// What the chains met shows how far the random transactions reach.
if (process.env['MODEL_SHOW'] !== undefined)
  for (const [what, count] of [...met].sort()) process.stdout.write(`${what}: ${count}\n`)
