/**
 * `make reliability ARGS="…"`: runs every campaign of campaigns.ts, one after the other, and keeps their reports in
 * .cache/reliability. Most of a day for all of them. Ends with 1 when a target is broken.
 *   --list           runs nothing, but prints the target of make, the subject and the long form's flags of each campaign
 *   --only a,b       some campaigns, by their targets of make
 *   --quick          forms that only show that each campaign runs; their reports are kept elsewhere and not written
 *   --take A,B       runs nothing, but takes in what campaigns wrote for --json; the name of each file begins with that
 *                    of its campaign
 *   --write          puts all reports that are kept into docs/reliability.md, and their figures into README. Rows of
 *                    campaigns without a report stay as they are
 */
import { summary } from '../support/campaign.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { writePage } from './page.ts'
import { openReports, runAll, takeIn } from './reports.ts'
import { namesIn, programArgs } from '../../tools/testing/programArgs.ts'

const FOLDER = '.cache/reliability'

const known = CAMPAIGNS.map(({ name }) => name)
const { values } = programArgs({
  options: {
    list: { type: 'boolean', default: false },
    only: { type: 'string', default: known.join() },
    quick: { type: 'boolean', default: false },
    take: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
if (values.list) {
  for (const { name, title, long } of CAMPAIGNS)
    process.stdout.write(`make ${name.padEnd(15)}${title}${long === '' ? '' : ` (ARGS="${long}")`}\n`)
  process.exit()
}
if (values.quick && values.write) throw new Error('--write: the page shows the long forms, not those of --quick')
const names = namesIn('--only', values.only, known)
const chosen = names.flatMap((name) => CAMPAIGNS.find((one) => one.name === name) ?? [])
const reports =
  values.take === undefined
    ? await runAll(chosen, values.quick, values.quick ? `${FOLDER}/quick` : FOLDER)
    : takeIn(values.take.split(','), CAMPAIGNS, FOLDER)
process.stdout.write('\n')
for (const report of reports) process.stdout.write(`${summary(report)}\n`)
const held = reports.filter(({ passed }) => passed).length
process.stdout.write(`${held} of ${reports.length} targets held\n`)
if (values.write) writePage(openReports(FOLDER).of)
process.exitCode = held === reports.length ? 0 : 1
