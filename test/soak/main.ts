/**
 * `make soak`: what a node takes of its machine in the long run. A validator and its gateway run as `svcd testnet` has
 * them, under 50 transfers a second, with readers and subscribers. After the first quarter, which is the warm-up, a line
 * is fitted to the memory that each process still has when its garbage has just been collected.
 *   --minutes N   how long; 120 unless given. Ten are the short form
 *   --json FILE   also writes the reports there
 *   --leak N      adds a process that leaks N MB an hour, and has to be reported
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  endNetwork,
  makeNetwork,
  type NetworkNode,
  startNode,
  startNodeGateway,
  watchHeads,
} from '../e2e/support/network.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { type CampaignReport, tellReports } from '../support/campaign.ts'
import { COLLECTING } from '../support/garbage.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { judge } from './judge.ts'
import { CONNECTIONS, type Met, RATE, startLoad, SUBSCRIBERS } from './load.ts'
import { look, type Sample, type Watched } from './samples.ts'
import { programArgs } from '../../tools/testing/programArgs.ts'

const MINUTE_MS = 60_000
const WARM_UP_SHARE = 1 / 4
/** Looks in a run, for as long as they are not closer than a tenth of a second. */
const LOOKS = 1_500
const LOOK_MS_MIN = 100
/** A line needs some. On a busy machine a look takes seconds, and a short run would have too few. */
const LOOKS_MIN = 16
/** Looks in a long run after which the garbage is collected. */
const COLLECTIONS = 96
const LANDED_SHARE_MIN = 0.95
const LEAK = fileURLToPath(new URL('leakChild.ts', import.meta.url))

const { values } = programArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    leak: { type: 'string' },
    json: { type: 'string' },
  },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes: expected a number above 0, got ${values.minutes}`)

// Without readers, or subscribers that are notified of every transaction, it would not be the load that the target names.
function loadReport({ due, landed, read, told, refused }: Met): CampaignReport {
  const problems = [...refused].map(([code, count]) => `${count} × ${code}`)
  return {
    name: 'load',
    target: `${RATE} transfers a second, ${LANDED_SHARE_MIN * 100} % of them in blocks at the end, and no call refused`,
    ran: due,
    seed: undefined,
    result: `${landed} in blocks, ${read} reads, ${told} notifications, refused: ${problems.join(', ') || 'none'}`,
    passed: landed >= due * LANDED_SHARE_MIN && told >= landed * SUBSCRIBERS && read > 0 && problems.length === 0,
  }
}

/** What the watched processes are told, so that their garbage can be collected. Resolves with where CometBFT answers for its. */
async function readyToCollect(): Promise<string> {
  process.env['NODE_OPTIONS'] = COLLECTING
  return (process.env['CMT_RPC_PPROF_LADDR'] = `127.0.0.1:${(await freePorts(1))[0]}`)
}

/** Starts the chain; resolves with what is to be watched. */
async function start(output: string): Promise<{ readonly url: string; readonly watched: Watched }> {
  const profile = await readyToCollect()
  const [node] = (await makeNetwork(output, 1, '1s')) as readonly [NetworkNode]
  const {
    pids: [comet, application],
  } = await startNode(node)
  await watchHeads([node], 0, 1)
  const gateway = await startNodeGateway(node, ['--devnet', '--connections-per-address', String(2 * CONNECTIONS)])
  const pids = new Map([
    ['application', application],
    ['gateway', gateway],
    ['CometBFT', comet],
  ])
  if (values.leak !== undefined) {
    const child = fork(LEAK, [values.leak])
    await once(child, 'message')
    pids.set('process that leaks', child.pid as number)
  }
  const logs = new Map([
    ['application', 'app.*'],
    ['gateway', 'gateway.*'],
    ['CometBFT', 'cometbft.*'],
  ])
  const watched = {
    pids,
    profiles: new Map([['CometBFT', profile]]),
    walPath: join(node.home, 'data', 'state.db-wal'),
    logFolder: join(node.home, 'logs'),
    logs,
  }
  return { url: node.gateway, watched }
}

/** Prints what each process keeps, in MB: a slope alone does not tell a cache that fills from a leak. */
function tellKept(minute: number, keptMb: ReadonlyMap<string, number>): void {
  const parts = [...keptMb].map(([name, mb]) => `${name} ${mb.toFixed(1)}`)
  process.stdout.write(`minute ${minute.toFixed(1)}, MB kept: ${parts.join(', ')}\n`)
}

// What runs is ended at the exit of this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const folder = tempFolder('soak')
try {
  const { url, watched } = await start(join(folder.path, 'net'))
  const load = startLoad(url)
  await load.flows()
  const lastsMs = minutes * MINUTE_MS
  const [beganMs, samples] = [performance.now(), [] as Sample[]]
  try {
    const pauseMs = Math.max(LOOK_MS_MIN, lastsMs / LOOKS)
    const collectEvery = Math.ceil(lastsMs / pauseMs / COLLECTIONS)
    for (let turn = 0; turn < LOOKS_MIN || performance.now() - beganMs < lastsMs; turn++) {
      const sample = await look(watched, turn % collectEvery === 0)
      samples.push(sample)
      if (sample.keptMb !== undefined) tellKept((sample.atMs - beganMs) / MINUTE_MS, sample.keptMb)
      await sleep(pauseMs)
    }
    const measured = samples.filter(({ atMs }) => atMs - beganMs > lastsMs * WARM_UP_SHARE)
    tellReports([...judge(samples, measured), loadReport(load.met())], values.json)
  } finally {
    await load.close()
  }
} finally {
  await endNetwork()
  folder.remove()
}
process.exit()
