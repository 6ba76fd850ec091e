/**
 * `make statesync`: a fifth node joins four validators with 100,000 accounts by state sync, once for each kind of lie
 * that one of the four tells about its chunks. `node test/e2e/statesync.ts [--accounts 100000] [--interval 50]
 * [--limit-s 60]`. Prints one line a join with its time as a share of the limit, and how the blocks that come while a
 * snapshot is being made compare with the others; ends with 1 when a join takes longer than the limit or the app hashes
 * differ.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { readNodeId } from '../../src/comet/home.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { endLeftovers } from './support/devnet.ts'
import { endNetwork, headOf, makeNetwork, type NetworkNode, startNode } from './support/network.ts'
import { addAccounts, appLogOf, LIES, lieAbout, makeJoiner, setKeeping } from './support/stateSync.ts'

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '100000' },
    interval: { type: 'string', default: '50' },
    'limit-s': { type: 'string', default: '60' },
  },
})
const interval = Number(values.interval)
const limitMs = Number(values['limit-s']) * 1000
const START_MS_MAX = 300_000
const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function waitFor(what: string, msMax: number, isThere: () => Promise<boolean>): Promise<number> {
  const begunMs = performance.now()
  while (!(await isThere())) {
    if (performance.now() - begunMs > msMax) throw new Error(`${what}: not within ${msMax / 1000} s`)
    await sleep(50)
  }
  return performance.now() - begunMs
}

const heightOf = async (node: NetworkNode): Promise<number> => (await headOf(node))?.height ?? 0

/** App hashes by height, as a node's own records of blocks have them. */
function hashesOf({ home }: NetworkNode): ReadonlyMap<number, { readonly hash: string; readonly timeMs: number }> {
  const db = new Database(join(home, 'data', 'state.db'), { readonly: true })
  try {
    const rows = db.prepare('select height, app_hash as hash, time_ms as timeMs from blocks order by height').all()
    return new Map(
      (rows as { height: number; hash: string; timeMs: number }[]).map(({ height, ...rest }) => [height, rest]),
    )
  } finally {
    db.close()
  }
}

/** Mean time from block to block in ms: of the two blocks that follow the begin of a snapshot, and of all others. */
function blockTimes(node: NetworkNode): { readonly making: number; readonly others: number } {
  const all = [...hashesOf(node)]
  const gaps: { making: number[]; others: number[] } = { making: [], others: [] }
  for (const [at, [height, { timeMs }]] of all.entries()) {
    const before = all[at - 1]
    if (before === undefined || height <= interval) continue
    gaps[height % interval === 1 || height % interval === 2 ? 'making' : 'others'].push(timeMs - before[1].timeMs)
  }
  const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / Math.max(1, list.length)
  return { making: mean(gaps.making), others: mean(gaps.others) }
}

const folder = tempFolder('statesync')
try {
  const nodes = await makeNetwork(join(folder.path, 'net'), 4)
  const [honest, , , liar] = nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode]
  addAccounts(nodes, Number(values.accounts))
  for (const node of nodes) setKeeping(node, interval)
  await Promise.all(nodes.map((node) => startNode(node)))
  const startMs = await waitFor('the first snapshot', START_MS_MAX, async () => (await heightOf(honest)) > interval)
  say(
    `${values.accounts} accounts, four validators, a snapshot every ${interval} blocks, the first after ${(startMs / 1000).toFixed(0)} s`,
  )
  for (const [name, lie] of Object.entries(LIES)) {
    const stopLying = lieAbout(liar, lie)
    await waitFor('a snapshot of the liar', START_MS_MAX, async () => (await heightOf(liar)) % interval === 5)
    const joiner = await makeJoiner(join(folder.path, name), nodes)
    const begunMs = performance.now()
    const node = await startNode(joiner)
    await waitFor(`${name}: the head`, 5 * limitMs, async () => {
      const [own, head] = await Promise.all([heightOf(joiner), heightOf(honest)])
      return own > 0 && own >= head
    })
    const tookMs = performance.now() - begunMs
    const [own, theirs] = [hashesOf(joiner), hashesOf(honest)]
    const [first] = own.keys()
    const wrong = [...own].filter(([height, { hash }]) => theirs.has(height) && theirs.get(height)?.hash !== hash)
    const refused = appLogOf(joiner).filter(({ msg }) => msg.startsWith('a chunk is not what its snapshot says'))
    const named = refused.every(({ sender }) => sender === readNodeId(liar.home))
    say(
      `${name}: joined from the snapshot of height ${first} and has the head after ${(tookMs / 1000).toFixed(1)} s, ` +
        `${(tookMs / limitMs).toFixed(2)} of the limit; ${refused.length} chunks refused, ${named ? '' : 'NOT '}all of the liar; ` +
        `${own.size} app hashes, ${wrong.length} differ`,
    )
    if (tookMs > limitMs || wrong.length > 0 || !named || first === undefined || first % interval !== 0)
      process.exitCode = 1
    await node.end('SIGTERM')
    stopLying()
  }
  const { making, others } = blockTimes(honest)
  const took = appLogOf(honest)
    .filter(({ msg }) => msg === 'a snapshot was made')
    .map(({ ms }) => ms ?? 0)
  say(
    `snapshots took ${took.join(', ')} ms; the two blocks after their begin ${making.toFixed(0)} ms each, ` +
      `${(making / others).toFixed(2)} of the ${others.toFixed(0)} ms of the others`,
  )
} catch (error) {
  say(`FAILED: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await endNetwork()
  endLeftovers()
  folder.remove()
}
process.exit()
