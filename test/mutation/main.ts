/**
 * Do the tests notice a fault? `make mutants` puts faults into a copy of src/modules, src/codec, src/tx and src/store,
 * one at a time, and runs the tests that reach the place, the most promising first, until one fails. `--count` faults of
 * each folder, 200 unless told otherwise, are chosen by `--seed`; a count above their number takes all. `--only
 * modules,tx` chooses folders, and `--json FILE` keeps the reports. A fault that the compiler refuses does not count.
 * One that survives is told with its line. explained.json lists those that no test can notice; they are not tried.
 */
import { type Campaigns, runCampaigns } from '../support/campaign.ts'
import { mutation, prepare } from './campaign.ts'
import { MUTATED, project } from './project.ts'

const COUNT = 200

// Each test runs with the same random cases each time.
process.env['SEED'] ??= '1'
const said = { ...project, say: (line: string): void => void process.stdout.write(`${line}\n`) }
const prepared = await prepare(said)
try {
  const campaigns: Campaigns = Object.fromEntries(
    MUTATED.map((folder): [string, Campaigns[string]] => [
      folder.slice('src/'.length),
      (options) => mutation(prepared, said, `${folder}/`, options),
    ]),
  )
  await runCampaigns(campaigns, COUNT)
} finally {
  prepared.close()
}
