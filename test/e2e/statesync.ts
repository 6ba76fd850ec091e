/**
 * `make statesync`: a fifth node joins four validators with 100,000 accounts by state sync, once for each kind of lie
 * that one of the four tells about its chunks. `node test/e2e/statesync.ts [--accounts 100000] [--interval 50]
 * [--limit-s 60] [--json FILE]`. Prints one line a join with its time as a share of the limit, and how the blocks that
 * come while a snapshot is being made compare with the others; ends with 1 when a join takes longer than the limit or the
 * app hashes differ. FILE then holds the reports.
 */
import { join } from 'node:path'
import { until } from '../../bench/until.ts'
import { readNodeId } from '../../src/comet/home.ts'
import { type CampaignReport, tellReports } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { endLeftovers } from './support/devnet.ts'
import { endNetwork, heightOrZero, makeNetwork, type NetworkNode, startNode } from './support/network.ts'
import { committedBlocks } from './support/replay.ts'
import {
  addAccounts,
  appLogOf,
  chunksAskedOf,
  failedJoin,
  hasMetLie,
  type Joined,
  judgeJoin,
  LIES,
  type Lie,
  lieAbout,
  logChunkRequests,
  makeJoiner,
  setKeeping,
} from './support/stateSync.ts'
import { programArgs } from '../../tools/testing/programArgs.ts'

const { values } = programArgs({
  options: {
    accounts: { type: 'string', default: '100000' },
    interval: { type: 'string', default: '50' },
    'limit-s': { type: 'string', default: '60' },
    json: { type: 'string' },
  },
})
const interval = Number(values.interval)
const limitMs = Number(values['limit-s']) * 1000
const START_MS_MAX = 300_000
const JOINS_MAX = 12
/** How the application's log begins a line about a chunk that is not the one of its snapshot. */
const REFUSED = 'a chunk is not what its snapshot says'
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Waits until it is there. Returns how long that took, in milliseconds. */
async function waitFor(what: string, msMax: number, isThere: () => Promise<boolean>): Promise<number> {
  const begunMs = performance.now()
  await until(isThere, msMax, () => `${what}: not within ${msMax / 1000} s`, 50)
  return performance.now() - begunMs
}

const hashesOf = (node: NetworkNode): ReadonlyMap<number, string> =>
  new Map(committedBlocks(node.home).map(({ height, hash }) => [height, hash]))

/** Mean time from block to block in ms: of the two blocks that follow the begin of a snapshot, and of all others. */
function blockTimes(node: NetworkNode): { readonly making: number; readonly others: number } {
  const all = committedBlocks(node.home)
  const gaps: { making: number[]; others: number[] } = { making: [], others: [] }
  for (const [at, { height, timeMs }] of all.entries()) {
    const before = all[at - 1]
    if (before === undefined || height <= interval) continue
    gaps[height % interval === 1 || height % interval === 2 ? 'making' : 'others'].push(timeMs - before.timeMs)
  }
  const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / Math.max(1, list.length)
  return { making: mean(gaps.making), others: mean(gaps.others) }
}

/** How the blocks that come while a snapshot is being made compare with the others: a figure without a limit. */
function snapshotReport(node: NetworkNode): CampaignReport {
  const { making, others } = blockTimes(node)
  const took = appLogOf(node)
    .filter(({ msg }) => msg === 'a snapshot was made')
    .map(({ ms = 0 }) => ms)
  return {
    name: 'blocks while a snapshot is made',
    target: 'their time is known',
    ran: took.length,
    seed: undefined,
    result:
      `the two blocks after its begin take ${(making / others).toFixed(2)} of the time of the others; ` +
      `a snapshot ${Math.min(...took)} to ${Math.max(...took)} ms`,
    passed: took.length > 0,
  }
}

/** One node joins the network, one of whose nodes lies. */
async function joinNetwork(nodes: readonly NetworkNode[], home: string, name: string): Promise<Joined> {
  const [honest, liar] = [nodes[0], nodes.at(-1)] as [NetworkNode, NetworkNode]
  await waitFor('a snapshot of the liar', START_MS_MAX, async () => (await heightOrZero(liar)) % interval === 5)
  const joiner = await makeJoiner(home, nodes)
  const begunMs = performance.now()
  const node = await startNode(joiner)
  try {
    await waitFor(`${name}: the head`, 5 * limitMs, async () => {
      const [own, head] = await Promise.all([heightOrZero(joiner), heightOrZero(honest)])
      return own > 0 && own >= head
    })
    return {
      lie: name,
      tookMs: performance.now() - begunMs,
      limitMs,
      interval,
      own: hashesOf(joiner),
      theirs: hashesOf(honest),
      refusedFrom: appLogOf(joiner).flatMap(({ msg, sender = '' }) => (msg.startsWith(REFUSED) ? [sender] : [])),
      liar: readNodeId(liar.home),
      asked: chunksAskedOf(liar, joiner),
    }
  } finally {
    await node.end('SIGTERM')
  }
}

/** Nodes join until one has met the lie: whom CometBFT asks for a chunk is chance. */
async function joinUntilLied(
  nodes: readonly NetworkNode[],
  path: string,
  name: string,
  lie: Lie,
): Promise<CampaignReport> {
  const stopLying = lieAbout(nodes.at(-1) as NetworkNode, lie)
  try {
    for (let joins = 1; ; joins++) {
      const joined = await joinNetwork(nodes, join(path, `${name}${joins}`), name)
      const report = judgeJoin(joined, joins)
      if (!report.passed || hasMetLie(joined)) return report
      if (joins === JOINS_MAX) throw new Error(`no node met the lie in ${joins} joins`)
    }
  } catch (error) {
    return failedJoin(name, limitMs, error)
  } finally {
    stopLying()
  }
}

const folder = tempFolder('statesync')
try {
  const nodes = await makeNetwork(join(folder.path, 'net'), 4)
  addAccounts(nodes, Number(values.accounts))
  for (const node of nodes) setKeeping(node, interval)
  logChunkRequests(nodes.at(-1) as NetworkNode)
  await Promise.all(nodes.map((node) => startNode(node)))
  const [honest] = nodes as [NetworkNode]
  const startMs = await waitFor('the first snapshot', START_MS_MAX, async () => (await heightOrZero(honest)) > interval)
  say(
    `${values.accounts} accounts, four validators, a snapshot every ${interval} blocks, the first after ${(startMs / 1000).toFixed(0)} s`,
  )
  const reports: CampaignReport[] = []
  for (const [name, lie] of Object.entries(LIES)) reports.push(await joinUntilLied(nodes, folder.path, name, lie))
  tellReports([...reports, snapshotReport(honest)], values.json)
} finally {
  await endNetwork()
  endLeftovers()
  folder.remove()
}
process.exit()
