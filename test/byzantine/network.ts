import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until as ask } from '../../bench/until.ts'
import { endNetwork, heightOrZero, type NetworkNode, type RunningNode } from '../e2e/support/network.ts'
import { committedBlocks, compareDatabases } from '../e2e/support/replay.ts'
import { Broken, need } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** How long anything may take. The machine may be busy with other things. */
const WAIT_MS_MAX = 240_000

/** Asks until it is so; throws Broken with what was waited for after WAIT_MS_MAX. */
export const until = (what: () => string, isSo: () => Promise<boolean> | boolean): Promise<true> =>
  ask(
    isSo,
    WAIT_MS_MAX,
    () => {
      throw new Broken(`not within ${WAIT_MS_MAX / 1000} s: ${what()}`)
    },
    50,
  )

/** Waits until all of them have `count` blocks more than any of them has now. */
export async function moreBlocks(nodes: readonly NetworkNode[], count: number): Promise<void> {
  const heights = (): Promise<number[]> => Promise.all(nodes.map(heightOrZero))
  const goal = Math.max(...(await heights())) + count
  let seen: readonly number[] = []
  await until(
    () => `height ${goal} at all nodes, which have ${seen.join()}`,
    async () => {
      seen = await heights()
      return seen.every((height) => height >= goal)
    },
  )
}

/** What CometBFT of a node printed. */
export const cometLogOf = ({ home }: Pick<NetworkNode, 'home'>): string =>
  readFileSync(join(home, 'logs', 'cometbft.out.log'), 'utf8')

/**
 * Stops the nodes in order. Then all databases have one app hash at each height that they share, their rows add up to the
 * supply and to the root, and no log of theirs tells of a failure. Returns the lowest head. `expected`: of a log, what is no
 * failure.
 */
export async function stopAndCompare(
  running: readonly RunningNode[],
  nodes: readonly Pick<NetworkNode, 'home'>[],
  expected?: RegExp,
): Promise<number> {
  const statuses = await Promise.all(running.map((one) => one.end('SIGTERM')))
  need(
    statuses.every((status) => status === 0),
    () => `the applications ended with ${statuses.join()}`,
  )
  compareDatabases(nodes, expected)
  return Math.min(...nodes.map(({ home }) => committedBlocks(home).at(-1)?.height ?? 0))
}

/** Runs something that starts nodes in a temporary folder. Nothing is left running, and nothing of the folder. */
export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = tempFolder('byzantine')
  try {
    return await use(folder.path)
  } finally {
    try {
      await endNetwork()
    } finally {
      folder.remove()
    }
  }
}
