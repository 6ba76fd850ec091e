/**
 * `make churn`: a network whose validator set changes all the time. `node test/e2e/churn.ts [--validators 7] [--blocks
 * 2000] [--seed 1] [--block-time 100ms]`. Prints a line every 100 blocks and a summary; ends with 1 and what was wrong
 * when anything was not as it should be; then the homes are kept. The seed gives the moves; which block they fall into
 * is the network's.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { random } from '../chain/support.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { churn } from './support/churn.ts'

const { values } = parseArgs({
  options: {
    validators: { type: 'string', default: '7' },
    blocks: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'block-time': { type: 'string', default: '100ms' },
  },
})
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const folder = tempFolder('churn')
say(`seed ${values.seed}: ${values.validators} validators, ${values.blocks} blocks in ${folder.path}`)
try {
  const { moves, changes, sizes, unsigned, compared, replayed } = await churn({
    output: join(folder.path, 'net'),
    validators: Number(values.validators),
    blocks: Number(values.blocks),
    blockTime: values['block-time'],
    next: random(Number(values.seed)),
    say,
  })
  for (const [name, { done, refused }] of moves) say(`${name}: ${done} committed, ${refused} refused`)
  say(
    `the set changed ${changes} times, with ${sizes.join(', ')} validators; ${unsigned} heights with a key that nobody has`,
  )
  say(`${compared} heights compared in every database, ${replayed} replayed from genesis: 0 hash mismatches`)
  folder.remove()
} catch (error) {
  say(`FAILED: ${error instanceof Error ? error.message : String(error)}\nthe homes are kept: ${folder.path}`)
  process.exitCode = 1
}
