import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import { until as untilTrue } from '../../bench/until.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { emptyMempools, heightOf, openGateways } from '../e2e/support/gateways.ts'
import {
  askNode,
  endNetwork,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  watchHeads,
} from '../e2e/support/network.ts'
import { allGone } from '../e2e/support/processes.ts'

/**
 * What happens to a full node: its CometBFT is killed, is paused, or knows nothing of at least the last three blocks. In
 * that last state the validator is paused, or the node would fetch them.
 */
export type Fault = 'stopped' | 'paused' | 'behind'

/** Every fault. */
export const faults: readonly Fault[] = ['stopped', 'paused', 'behind']

/** The accounts that the gateways sign for. The first one owns the validator. */
export const signers = devnetSigners()

/** A chain of a validator and a full node, with a gateway before each. */
export type OutageNetwork = Awaited<ReturnType<typeof startOutageNetwork>>

/**
 * How long these gateways wait for a transaction's block. The calls to a paused node take most of the time here as it is.
 */
export const WAIT_MS = 5_000
const BEHIND_BLOCKS = 3
const PAUSE_MS = 50
const HEAL_MS_MAX = 180_000

/** Asks until it is true; throws after HEAL_MS_MAX. */
const until = (what: string, probe: () => Promise<boolean>): Promise<unknown> =>
  untilTrue(probe, HEAL_MS_MAX, () => `${what}: not within ${HEAL_MS_MAX / 1000} s`, PAUSE_MS)

const isReady = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true

async function isCatchingUp(node: NetworkNode): Promise<boolean> {
  const status = askNode<{ sync_info: { catching_up: boolean } }>(node, 'status').catch(() => undefined)
  return (await status)?.sync_info.catching_up === true
}

/** Starts one in a new folder; resolves when both gateways are ready. */
export async function startOutageNetwork(output: string) {
  const nodes = (await makeNetwork(output, 1, '200ms', 1)) as readonly [NetworkNode, NetworkNode]
  const [validator, full] = nodes
  const signing = await startNode(validator)
  let running: RunningNode = await startNode(full)
  await watchHeads(nodes, 0, 1)
  const defects: string[] = []
  const [other, faulty] = (await openGateways(nodes, { signers, waitMs: WAIT_MS, defects })) as readonly [
    Gateway,
    Gateway,
  ]
  const areReady = async (): Promise<boolean> => (await isReady(faulty.url)) && (await isReady(other.url))
  let end: () => Promise<void> = async () => undefined

  // The validator has decided a block that the full node has, but may still execute it.
  const highest = async (): Promise<number> => (await heightOf(validator)) + 1

  const begins: Readonly<Record<Fault, () => Promise<number>>> = {
    stopped: async () => {
      const [comet] = running.pids
      process.kill(comet, 'SIGKILL')
      end = async () => {
        await running.end('SIGTERM')
        running = await startNode(full)
      }
      await allGone([comet])
      return highest()
    },
    paused: async () => {
      const [comet] = running.pids
      process.kill(comet, 'SIGSTOP')
      end = async () => void process.kill(comet, 'SIGCONT')
      return highest()
    },
    behind: async () => {
      await running.end('SIGTERM')
      const known = await heightOf(validator)
      await until('three blocks', async () => (await heightOf(validator)) >= known + BEHIND_BLOCKS)
      process.kill(signing.pids[0], 'SIGSTOP')
      end = async () => void process.kill(signing.pids[0], 'SIGCONT')
      running = await startNode(full)
      await until('a node that catches up', () => isCatchingUp(full))
      return heightOf(full)
    },
  }

  await until('ready gateways', areReady)
  return {
    /** The gateway of the full node, and that of the validator. */
    gateways: [faulty.url, other.url] as const,
    /** What the gateways logged as their own defects. */
    defects: defects as readonly string[],
    /** Lets it happen. Resolves with a height that the full node does not pass before `heal`. */
    begin: (fault: Fault) => begins[fault](),
    /** Ends the fault. Resolves when both gateways are ready. */
    heal: async () => {
      await end()
      end = async () => undefined
      await until('ready gateways', areReady)
    },
    /** Resolves when neither node has a transaction in its mempool, at three heights in a row. */
    settle: () => emptyMempools(nodes, HEAL_MS_MAX),
    close: async () => {
      await end().catch(() => undefined)
      await Promise.all([faulty.close(), other.close()])
      await endNetwork()
    },
  }
}
