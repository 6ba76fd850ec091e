/**
 * `make chaos`: kill -9 of a devnet's parts at random moments while transactions flow.
 * `node test/e2e/chaos.ts [--app-rounds 50] [--node-rounds 20] [--all-rounds 5] [--seed N]`. Prints one line a round
 * and a summary; ends with 1 and what was wrong when anything was not as it should be; then the home is kept. The seed
 * gives the order and the moments.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tempFolder } from '../support/tempFolder.ts'
import { crashRound, lastCheck, makeBook, type Victim } from './support/crash.ts'
import { makePlace } from './support/devnet.ts'

/** Numbers of 0 to below `limit` from a seed (mulberry32): the same seed gives the same numbers. */
function randomOf(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

const PAUSE_MS_MAX = 700

const { values } = parseArgs({
  options: {
    'app-rounds': { type: 'string', default: '50' },
    'node-rounds': { type: 'string', default: '20' },
    'all-rounds': { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const next = randomOf(Number(values.seed))
const left: Victim[] = [
  ...Array.from({ length: Number(values['app-rounds']) }, (): Victim => 'app'),
  ...Array.from({ length: Number(values['node-rounds']) }, (): Victim => 'node'),
  ...Array.from({ length: Number(values['all-rounds']) }, (_, at): Victim => (at % 2 === 0 ? 'all' : 'supervisor')),
]
const total = left.length
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const folder = tempFolder('chaos')
const place = await makePlace(join(folder.path, 'home'), '100ms')
const book = makeBook()
say(`seed ${values.seed}: ${total} rounds in ${place.home}`)
try {
  for (let checked = 0, at = 1; left.length > 0; at++) {
    const [victim] = left.splice(next(left.length), 1) as [Victim]
    const since = checked
    checked = book.acknowledged.size
    const pauseMs = next(PAUSE_MS_MAX)
    const { acknowledged, height } = await crashRound(place, book, victim, { pauseMs, since })
    say(`${at}/${total} killed ${victim} after ${pauseMs} ms: ${acknowledged} acknowledged, head at least ${height}`)
  }
  const head = await lastCheck(place, book)
  say(
    `${total} rounds, 0 hash mismatches, ${book.acknowledged.size} transactions acknowledged and 0 of them lost, head ${head}` +
      (book.unindexed === 0 ? '' : `; looked up by hash, the node's index missed ${book.unindexed} times`),
  )
  folder.remove()
} catch (error) {
  say(`FAILED: ${error instanceof Error ? error.message : String(error)}\nthe home is kept: ${place.home}`)
  process.exitCode = 1
}
