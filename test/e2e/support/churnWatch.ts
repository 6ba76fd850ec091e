import { setTimeout as sleep } from 'node:timers/promises'
import { askNode, headOf, type NetworkNode, type RunningNode } from './network.ts'
import { isRunning } from './processes.ts'

export type Watch = ReturnType<typeof watchChain>

/** How long a chain may stand still: far more than a block takes on a busy machine. */
const STILL_MS_MAX = 180_000
const PAUSE_MS = 200
/** Heights that a node may lag before its app hash is looked up. */
const BEHIND_MAX = 3

async function setAt(node: NetworkNode, height: number): Promise<ReadonlyMap<string, number>> {
  const { validators } = await askNode<{
    validators: readonly { pub_key: { value: string }; voting_power: string }[]
  }>(node, `validators?height=${height}&per_page=100`)
  return new Map(validators.map(({ pub_key: { value }, voting_power: power }) => [value, Number(power)]))
}

/** The app hash after a block that has a successor, as the chain has it in that one's header. */
async function decidedHash(node: NetworkNode, height: number): Promise<string> {
  const { header } = await askNode<{ header: { app_hash: string } }>(node, `header?height=${height + 1}`)
  return Buffer.from(header.app_hash, 'hex').toString('base64')
}

/** Throws unless somebody who signs is in the set, and those who never sign have less than a third of its power. */
function checkSet(set: ReadonlyMap<string, number>, height: number, nodeKeys: ReadonlySet<string>): void {
  const powers = [...set]
  const sum = (rows: readonly (readonly [string, number])[]): number => rows.reduce((all, [, power]) => all + power, 0)
  const unsigned = sum(powers.filter(([key]) => !nodeKeys.has(key)))
  if (set.size === 0) throw new Error(`height ${height}: the validator set is empty`)
  if (unsigned * 3 >= sum(powers))
    throw new Error(`height ${height}: nobody signs for ${unsigned} of ${sum(powers)} of the power`)
}

/**
 * Watches a network: every app hash that a node tells is the one of all others at that height, no set is empty or
 * unsigned by a third, every process runs, and there is a new block before long.
 */
export function watchChain(
  nodes: readonly NetworkNode[],
  running: readonly RunningNode[],
  nodeKeys: ReadonlySet<string>,
) {
  const hashes = new Map<number, string>()
  const sets = new Map<number, ReadonlyMap<string, number>>()
  let head = 0
  let movedAtMs = performance.now()
  let isOver = false

  const look = async (): Promise<void> => {
    const heads = await Promise.all(nodes.map(headOf))
    for (const [at, told] of heads.entries()) {
      if (told === undefined) continue
      const first = hashes.get(told.height)
      if (first !== undefined && first !== told.appHash) {
        throw new Error(`height ${told.height}: node ${at} tells the app hash ${told.appHash}, another one ${first}`)
      }
      hashes.set(told.height, told.appHash)
    }
    const ahead = heads.findIndex((told) => told?.height === Math.max(...heads.map((one) => one?.height ?? 0)))
    for (const [at, told] of heads.entries()) {
      // A node with an app hash of its own stays behind: the others may have gone on unseen.
      if (told === undefined || told.height + BEHIND_MAX > (heads[ahead]?.height ?? 0)) continue
      const decided = await decidedHash(nodes[ahead] as NetworkNode, told.height)
      if (told.height > 0 && decided !== told.appHash) {
        throw new Error(
          `height ${told.height}: node ${at} tells the app hash ${told.appHash}, the chain has ${decided}`,
        )
      }
    }
    const lowest = Math.min(...heads.map((told) => told?.height ?? 0))
    for (let height = sets.size + 1; height <= lowest; height++) {
      const set = await setAt(nodes[0] as NetworkNode, height)
      checkSet(set, height, nodeKeys)
      sets.set(height, set)
    }
    if (lowest > head) [head, movedAtMs] = [lowest, performance.now()]
    if (performance.now() - movedAtMs > STILL_MS_MAX)
      throw new Error(`the chain stands still: ${JSON.stringify(heads)}`)
    const gone = running.flatMap(({ pids }) => pids).find((pid) => !isRunning(pid))
    if (gone !== undefined && !isOver) throw new Error(`process ${gone} of a node has ended: ${JSON.stringify(heads)}`)
  }
  const watching = (async (): Promise<void> => {
    for (; !isOver; await sleep(PAUSE_MS)) await look()
  })()
  const failed = new Promise<never>((_, reject) => {
    watching.catch(reject)
  })
  failed.catch(() => {
    /* told by whoever waits for it, and by stop */
  })
  return {
    /** Highest height that every node has told. */
    head: () => head,
    /** CometBFT's validator set at each height so far: public key → power. */
    sets: sets as ReadonlyMap<number, ReadonlyMap<string, number>>,
    /** Rejects with the first thing that is not as it should be. */
    failed,
    /** Ends the watching; rejects like `failed` when something was wrong. */
    stop: async () => {
      isOver = true
      await watching
    },
  }
}
