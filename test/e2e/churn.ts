/**
 * `make churn`: a network of seven whose validator set changes all the time. `--count` blocks, 2,000 unless told
 * otherwise; `--seed` gives the moves, of which the network decides the blocks, and `--json FILE` keeps the report.
 * Prints a line every 100 blocks, and how often each move was made. When something is not as it should be, the homes
 * are kept.
 */
import { join } from 'node:path'
import { random } from '../chain/support.ts'
import { type CampaignOptions, type CampaignReport, runCampaigns } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { churn } from './support/churn.ts'

const VALIDATORS = 7
const BLOCKS = 2_000

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const counted = (value: number): string => value.toLocaleString('en')

async function changeAllTheTime({ count: blocks, seed }: CampaignOptions): Promise<CampaignReport> {
  const folder = tempFolder('churn')
  const report = {
    name: 'validators come and go',
    target: `${VALIDATORS} nodes and a replay from genesis have one app hash a height, and the chain goes on`,
    seed,
  }
  try {
    const { moves, changes, sizes, unsigned, compared, replayed } = await churn({
      output: join(folder.path, 'net'),
      validators: VALIDATORS,
      blocks,
      blockTime: '100ms',
      next: random(seed),
      say,
    })
    for (const [name, { done, refused }] of moves) say(`${name}: ${done} committed, ${refused} refused`)
    folder.remove()
    const result =
      `${counted(replayed)} heights replayed alike; the set changed ${counted(changes)} times, ` +
      `with ${sizes.join(', ')} validators, at ${counted(unsigned)} heights with a key that nobody has`
    return { ...report, ran: compared, result, passed: true }
  } catch (error) {
    say(`the homes are kept: ${folder.path}`)
    return { ...report, ran: 0, result: error instanceof Error ? error.message : String(error), passed: false }
  }
}

await runCampaigns({ churn: changeAllTheTime }, BLOCKS)
