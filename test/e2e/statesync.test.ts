import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { DEVNET_ACCOUNTS } from '../../src/cli/devnet/chain.ts'
import { homeFiles, readNodeId } from '../../src/comet/home.ts'
import { historyRows } from '../node/history/support.ts'
import { svcd } from './support/devnet.ts'
import {
  askNode,
  endNetwork,
  heightOrZero,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  watchHeads,
} from './support/network.ts'
import { waitForIndex } from './support/replay.ts'
import { addAccounts, appLogOf, lieAbout, LIES, makeJoiner, prolongTrust, setKeeping } from './support/stateSync.ts'
import { testFolder } from './support/testFolder.ts'

const ACCOUNTS = 60_000
const INTERVAL = 20
const folder = testFolder(async () => {
  stopLying?.()
  await endNetwork()
})
let nodes: readonly NetworkNode[] = []
let running: RunningNode[] = []
let stopLying: (() => void) | undefined

beforeAll(async () => {
  nodes = await makeNetwork(join(folder, 'net'), 2)
  // Evidence of a few blocks only, so that something can be pruned within the test.
  addAccounts(nodes, ACCOUNTS, { unstake_wait_period: 12 })
  for (const node of nodes) setKeeping(node, INTERVAL)
  running = await Promise.all(nodes.map((node) => startNode(node)))
  stopLying = lieAbout(nodes[1] as NetworkNode, LIES.flipped)
  await watchHeads(nodes, INTERVAL, 1)
})

function firstBlock({ home }: NetworkNode): { height: number; accounts: number } {
  const db = new Database(join(home, 'data', 'state.db'), { readonly: true })
  try {
    return db
      .prepare('select (select min(height) from blocks) as height, (select count(*) from accounts) as accounts')
      .get() as never
  } finally {
    db.close()
  }
}

/** The first block that the index of histories of a stopped node holds. */
const firstIndexed = ({ home }: NetworkNode): number => {
  const { blocks = [] } = historyRows(join(home, 'data', 'history.db'))
  return (blocks as readonly (readonly [number])[])[0]?.[0] ?? 0
}

/** True when the application of a node has taken its state from a snapshot. */
const isRestored = ({ home }: NetworkNode): boolean =>
  readFileSync(join(home, 'logs', 'app.log'), 'utf8').includes('"the state was restored from a snapshot"')

const JOIN_MS_MAX = 300_000

/**
 * Waits until the application of a joiner has restored a snapshot. Returns false when CometBFT gave up because its light
 * client lost its only witness, as it may on a busy machine: it does not try again. Throws with what CometBFT logged when it
 * gave up for another reason, or when nothing has come of it after JOIN_MS_MAX. Only its log tells any of this.
 */
async function hasJoined(joiner: NetworkNode): Promise<boolean> {
  for (const endMs = performance.now() + JOIN_MS_MAX; !isRestored(joiner); await sleep(50)) {
    const log = readFileSync(join(joiner.home, 'logs', 'cometbft.out.log'), 'utf8')
    const failed = /State sync failed.*/.exec(log)?.[0]
    if (failed?.includes('no witnesses connected') === true) return false
    if (failed === undefined && performance.now() < endMs) continue
    const said = log.split('\n').filter((line) => /statesync|light/.test(line))
    throw new Error(said.slice(-30).join('\n'))
  }
  return true
}

/** What a node answers to a transaction of garbage, as soon as it answers. */
async function sendGarbage({ rpc }: NetworkNode): Promise<{ readonly result?: { readonly code: number } }> {
  for (;;) {
    try {
      return (await (await fetch(`${rpc}/broadcast_tx_sync?tx=0x00`)).json()) as never
    } catch {
      await sleep(50)
    }
  }
}

test('a node joins by state sync from two peers of whom one flips bits: it names that one and has the head’s app hash', async () => {
  for (let attempt = 1; ; attempt++) {
    const joiner = await makeJoiner(join(folder, `joiner${attempt}`), nodes)
    // Two thirds of the ten blocks in which evidence counts here: a state sync may take longer.
    expect(prolongTrust(joiner)).toBeLessThan(300_000)
    const node = await startNode(joiner)
    running.push(node)
    // Its application is asked already, unless CometBFT is of a line that waits for the state.
    const { result } = await sendGarbage(joiner)
    if (!isRestored(joiner)) expect(result?.code ?? 32).toBe(32)
    if (!(await hasJoined(joiner))) {
      await node.end('SIGTERM')
      expect(attempt).toBeLessThan(12)
      continue
    }
    const first = nodes[0] as NetworkNode
    await watchHeads([first, joiner], await heightOrZero(first), 2)
    const { height, accounts } = firstBlock(joiner)
    expect([height % INTERVAL, accounts]).toEqual([0, ACCOUNTS + DEVNET_ACCOUNTS])
    await waitForIndex(joiner, height + 1)
    expect(await node.end('SIGTERM')).toBe(0)
    expect(firstIndexed(joiner)).toBe(height + 1)
    const lies = appLogOf(joiner).filter(({ msg }) => msg.startsWith('a chunk is not what its snapshot says'))
    expect(lies.map(({ sender }) => sender)).toEqual(lies.map(() => readNodeId(nodes[1]?.home ?? '')))
    // Which peer is asked for a chunk is chance: with three chunks one of eight joiners never asks the liar.
    if (lies.length > 0) break
    expect(attempt).toBeLessThan(12)
  }
})

test('a node that lost its state takes a snapshot by hand, runs its blocks again, and prunes what it need not keep', async () => {
  const [honest, other] = nodes as [NetworkNode, NetworkNode]
  expect(await running[1]?.end('SIGTERM')).toBe(0)
  for (const end of ['', '-wal', '-shm']) rmSync(join(other.home, 'data', `state.db${end}`), { force: true })
  const snapshots = join(honest.home, 'data', 'snapshots')
  const signed = readFileSync(homeFiles(other.home).validatorState, 'utf8')
  const restored = await svcd(['snapshot', 'restore', snapshots, '--home', other.home, '--json'])
  expect(restored.status).toBe(0)
  // One that is older, or that of another node, could sign a height twice.
  expect(readFileSync(homeFiles(other.home).validatorState, 'utf8')).toBe(signed)
  const { height } = JSON.parse(restored.stdout) as { height: number }
  const head = await heightOrZero(honest)
  setKeeping(other, 0, 5)
  running[1] = await startNode(other)
  await watchHeads([honest, other], head + 2, 2)
  expect(height).toBeLessThanOrEqual(head)
  const { sync_info: sync } = await askNode<{ sync_info: Record<string, string> }>(other, 'status')
  const [earliest, latest] = [Number(sync['earliest_block_height']), Number(sync['latest_block_height'])]
  expect(earliest).toBeGreaterThan(1)
  // The evidence of ten blocks wants more than the five that were asked for.
  expect(latest - earliest).toBeGreaterThanOrEqual(10)
  // Its thread removes rows after it has added those of a block.
  await waitForIndex(other, latest + 2)
  expect(await running[1]?.end('SIGTERM')).toBe(0)
  expect(firstBlock(other).height).toBeGreaterThanOrEqual(earliest)
  expect(firstIndexed(other)).toBeGreaterThanOrEqual(earliest)
})
