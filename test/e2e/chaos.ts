/**
 * `make chaos`: kill -9 of a devnet's parts at random moments while transactions flow. `--count` kills, 75 unless told
 * otherwise; `--seed` gives the victims and the moments, and `--json FILE` keeps the report. Prints a line for each
 * kill. When something is not as it should be, the home is kept.
 */
import { join } from 'node:path'
import { runCampaigns } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { chaos } from './support/chaos.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

await runCampaigns(
  {
    chaos: async (options) => {
      const folder = tempFolder('chaos')
      const report = await chaos(options, { home: join(folder.path, 'home'), say })
      if (report.passed) folder.remove()
      else say(`the home is kept: ${folder.path}`)
      return report
    },
  },
  75,
)
