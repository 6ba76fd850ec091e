import { until } from '../../../bench/until.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../../src/gateway/gateway.ts'
import type { Signer } from '../../../src/tx/sign.ts'
import { askNode, headOf, type NetworkNode } from './network.ts'

const QUIET_HEIGHTS = 3
const PAUSE_MS = 50

export const silentLogger: GatewayOptions['logger'] = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** For whom gateways sign, how long they wait for a transaction, and what collects what they log as their own defects. */
export interface GatewaysOptions {
  readonly signers: readonly Signer[]
  readonly waitMs: number
  readonly defects: string[]
}

/** Starts a gateway before each node. They run in this process, and have no limits on who calls how often. */
export function openGateways(
  nodes: readonly NetworkNode[],
  { signers, waitMs, defects }: GatewaysOptions,
): Promise<readonly Gateway[]> {
  const logger = {
    ...silentLogger,
    error: (about: object, message: string) => {
      // That the node failed is no defect; one is told to the caller by this id alone.
      if ('id' in about) defects.push(`${message}: ${String((about as { err?: unknown }).err)}`)
    },
  }
  const limits = { callsPerSecond: 0, connections: 2_000, connectionsOfAddress: 2_000 }
  return Promise.all(
    nodes.map(({ rpc }) =>
      startGateway({ node: rpc, port: 0, signers, publicKeys: true, page: false, logger, limits, waitMs }),
    ),
  )
}

/** Height that the application of a node has committed. Throws when it does not answer. */
export async function heightOf(node: NetworkNode): Promise<number> {
  const head = await headOf(node)
  if (head === undefined) throw new Error(`${node.rpc} does not answer`)
  return head.height
}

/** How many transactions wait in the mempool of a node. */
export const waitingAt = async (node: NetworkNode): Promise<number> =>
  Number((await askNode<{ total: string }>(node, 'num_unconfirmed_txs')).total)

/** Resolves when no node is behind or has a transaction in its mempool, at three heights in a row. Throws after `limitMs`. */
export async function emptyMempools(nodes: readonly NetworkNode[], limitMs: number): Promise<void> {
  const quiet = new Set<number>()
  const isQuiet = async (): Promise<boolean> => {
    const heights = await Promise.all(nodes.map(heightOf))
    const lowest = Math.min(...heights)
    const waiting = await Promise.all(nodes.map(waitingAt))
    // A node that catches up forgets what waits, although a block that it has yet to reach may hold it.
    const isBehind = Math.max(...heights) > lowest + 1
    if (isBehind || waiting.some((count) => count > 0)) quiet.clear()
    else quiet.add(lowest)
    return quiet.size >= QUIET_HEIGHTS
  }
  await until(isQuiet, limitMs, () => `mempools are not empty after ${limitMs / 1000} s`, PAUSE_MS)
}
