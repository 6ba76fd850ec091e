import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../bench/until.ts'
import Database from 'better-sqlite3'
import { need } from '../../support/campaign.ts'
import { checkDisk } from './crash.ts'
import { heightOrZero, type NetworkNode, queryNode, type RunningNode, startNode } from './network.ts'
import { isRunning } from './processes.ts'

/** One row of `blocks`: what a node committed at a height. */
export interface Committed {
  readonly height: number
  readonly hash: string
  readonly timeMs: number
}

/** Between which heights an index of histories is whole. */
interface IndexSpan {
  readonly first_height: number
  readonly last_height: number
}

/** Every block that the application of a home has committed, in order. */
export function committedBlocks(home: string): readonly Committed[] {
  const db = new Database(join(home, 'data', 'state.db'), { readonly: true })
  try {
    const query = 'select height, app_hash as hash, time_ms as timeMs from blocks order by height'
    return db.prepare(query).all() as Committed[]
  } finally {
    db.close()
  }
}

/** The first height at which two lists of blocks differ, of those that both have; undefined when they agree. */
export const firstDifference = (some: readonly Committed[], others: readonly Committed[]): number | undefined =>
  some.find(
    ({ height, hash }, at) => others[at] !== undefined && (others[at].height !== height || others[at].hash !== hash),
  )?.height

/**
 * Every database holds the same app hash at every height that all have, and is sound (`checkDisk`), while no node runs.
 * Returns how many heights that are. `expected`: lines of a log that are no trouble.
 */
export function compareDatabases(nodes: readonly Pick<NetworkNode, 'home'>[], expected?: RegExp): number {
  const all = nodes.map(({ home }) => committedBlocks(home))
  // Those before it some node may have removed.
  const first = Math.max(...all.map((list) => list[0]?.height ?? 0))
  const lists = all.map((list) => list.filter(({ height }) => height >= first))
  for (const [at, list] of lists.entries()) {
    const height = firstDifference(list, lists[0] ?? [])
    need(height === undefined, () => `height ${height}: the databases of nodes 0 and ${at} differ`)
  }
  for (const node of nodes) checkDisk(node, expected)
  return Math.min(...lists.map(({ length }) => length))
}

/**
 * Waits until the application of a node is at `height`; throws after `limitMs`, and when it or its CometBFT has ended.
 */
export async function waitForHead(
  node: NetworkNode,
  { pids }: RunningNode,
  height: number,
  limitMs: number,
): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    if ((await heightOrZero(node)) >= height) return true
    if (pids.every(isRunning)) return false
    throw new Error(`${node.home} ended before height ${height}`)
  }
  await until(isThere, limitMs, () => `${node.home} is not at height ${height} after ${limitMs} ms`, 50)
}

/** Resolves when the index of histories of a node, which may be behind its blocks, holds that of `height`. */
export async function waitForIndex(node: NetworkNode, height: number): Promise<void> {
  for (;;) {
    const span = await queryNode<IndexSpan>(node, '/history/transactions?limit=1')
    // One that holds no block yet says that it begins behind the head.
    if (span.first_height <= height && span.last_height >= height) return
    await sleep(50)
  }
}

/** Moves the state of a stopped node away, so that CometBFT replays every block of its store at the next start. */
export function moveStateAway(home: string): void {
  const data = join(home, 'data')
  mkdirSync(join(data, 'before-replay'), { recursive: true })
  for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) {
    if (existsSync(join(data, name))) renameSync(join(data, name), join(data, 'before-replay', name))
  }
}

/**
 * Moves the state of a stopped node away and starts it: CometBFT then replays every block of its store from genesis.
 * Resolves, after an orderly stop, with what the node had committed before and with what the replay committed. Throws
 * after `limitMs`.
 */
export async function replayFromGenesis(
  node: NetworkNode,
  limitMs: number,
): Promise<{ readonly before: readonly Committed[]; readonly after: readonly Committed[] }> {
  const before = committedBlocks(node.home)
  moveStateAway(node.home)
  const running = await startNode(node)
  await waitForHead(node, running, before.at(-1)?.height ?? 0, limitMs)
  await running.end('SIGTERM')
  return { before, after: committedBlocks(node.home) }
}
