import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { chainIdOf } from '../../src/node/homes.ts'
import { readNodeId } from '../../src/comet/home.ts'
import {
  askNode,
  heightOrZero,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  watchHeads,
} from '../e2e/support/network.ts'
import { isRunning } from '../e2e/support/processes.ts'
import { buildStranger } from '../p2p/build.ts'
import { heldBy } from '../soak/samples.ts'
import { type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { inFolder, moreBlocks, stopAndCompare, until } from './network.ts'

// Both must sign: a validator that the stranger keeps from it stops the chain.
const VALIDATORS = 2
const SAMPLE_MS = 250
/** How long the chain may stand still. */
const STILL_MS_MAX = 180_000
/** Above what a process held before. Of one message CometBFT keeps what it has room for: 100 MB on the channel of blocks. */
const MEMORY_MB_MAX = 500
const MESSAGE_TYPES = 25

/** What the stranger says when it has sent all. */
interface Sent {
  readonly sent: Readonly<Record<string, number>>
  readonly peers: number
  readonly hungUp: number
}

/** What is seen of a node under attack. */
interface Seen {
  /** The most that a process held above what it held before, in MB: CometBFT and the application. */
  readonly grownMb: number[]
  isOver: boolean
}

/** Watches a node until it is over. Throws Broken when a process ends, holds too much, or the chain stands still. */
async function watch(node: NetworkNode, { pids }: RunningNode, seen: Seen): Promise<void> {
  const before = pids.map((pid) => heldBy(pid).memoryMb)
  let [head, movedAtMs] = [0, performance.now()]
  for (; !seen.isOver; await sleep(SAMPLE_MS)) {
    for (const [at, pid] of pids.entries()) {
      need(isRunning(pid), () => `${at === 0 ? 'CometBFT' : 'the application'} has ended`)
      const grown = heldBy(pid).memoryMb - (before[at] ?? 0)
      seen.grownMb[at] = Math.max(seen.grownMb[at] ?? 0, grown)
      need(
        grown < MEMORY_MB_MAX,
        () => `${at === 0 ? 'CometBFT' : 'the application'} holds ${grown.toFixed(0)} MB more`,
      )
    }
    const height = await heightOrZero(node)
    if (height > head) [head, movedAtMs] = [height, performance.now()]
    need(performance.now() - movedAtMs < STILL_MS_MAX, () => `no block after ${head} for ${STILL_MS_MAX / 1000} s`)
  }
}

const peersOf = async (node: NetworkNode): Promise<number> =>
  Number((await askNode<{ n_peers: string }>(node, 'net_info')).n_peers)

/**
 * A stranger sends a node `count` messages of every type that CometBFT's reactors know, with extreme numbers, lists and bytes.
 * `kills`: a mistake that the campaign must find: CometBFT ends in the middle.
 */
export function reactors({ count, seed }: CampaignOptions, kills = false): Promise<CampaignReport> {
  const about = {
    name: "messages to CometBFT's reactors",
    target: `the node stays up with less than ${MEMORY_MB_MAX} MB more, blocks go on, and the stranger is dropped or ignored`,
    seed,
  }
  const run = (told: { ran: number }): Promise<string> =>
    inFolder(async (folder) => {
      const stranger = buildStranger('extremes', folder)
      const nodes = await makeNetwork(join(folder, 'net'), VALIDATORS)
      const running = await Promise.all(nodes.map((node) => startNode(node)))
      await watchHeads(nodes, 0, 1)
      const [node, [attacked]] = [nodes[0] as NetworkNode, running as [RunningNode]]
      const before = await heightOrZero(node)
      const port = Number(new URL(node.rpc).port) - 1
      const args = [
        `${readNodeId(node.home)}@127.0.0.1:${port}`,
        chainIdOf(node.home) as string,
        String(count),
        String(seed),
      ]
      const seen: Seen = { grownMb: [], isOver: false }
      const sending = promisify(execFile)(stranger, args)
      const watching = watch(node, attacked, seen)
      if (kills) process.kill(attacked.pids[0], 'SIGKILL')
      // A node that ends makes the stranger fail too, which may be seen first.
      const sendingOn = sending.catch((error: unknown) => {
        need(isRunning(attacked.pids[0]), () => 'CometBFT has ended')
        throw error
      })
      const ended = await Promise.race([sendingOn, watching]).finally(() => {
        seen.isOver = true
        sending.child.kill()
      })
      await watching
      const { sent, peers, hungUp } = JSON.parse(ended?.stdout ?? '{}') as Sent
      told.ran = Object.values(sent).reduce((sum, one) => sum + one, 0)
      need(Object.keys(sent).length >= MESSAGE_TYPES, () => `only ${Object.keys(sent).join()} were sent`)
      await until(
        () => 'the peers of before',
        async () => (await peersOf(node)) === VALIDATORS - 1,
      )
      await moreBlocks(nodes, 5)
      const head = await stopAndCompare(running, nodes)
      const [cometBft = 0, application = 0] = seen.grownMb
      return (
        `${Object.keys(sent).length} types on ${peers} connections, of which the node ended ${hungUp}; ` +
        `${head - before} blocks meanwhile; ` +
        `CometBFT held ${cometBft.toFixed(0)} MB more at most, the application ${application.toFixed(0)} MB`
      )
    })
  return campaignReport(about, run)
}
