import { setTimeout as sleep } from 'node:timers/promises'
import { lastConsensusFailure } from '../../comet/consensusFailure.ts'
import type { NodeRpc } from '../../comet/rpc.ts'
import type { NodeStatus } from '../../comet/wire.ts'
import { stalledAfterMs, stallReason } from '../../gateway/health.ts'
import { examineDisk } from './disk.ts'
import type { Finding } from './finding.ts'

/** How long a block is waited for when the last one is old by this machine's clock, which may be wrong, in ms. */
const WATCH_MS = 3000
const PAUSE_MS = 250

/** What the home of a node tells of why its chain makes no blocks; empty when it tells nothing. */
export function stallCauses(home: string): string {
  const failure = lastConsensusFailure(home)
  const disk = examineDisk(home).find(({ verdict }) => verdict === 'bad')
  return [failure === undefined ? [] : `CometBFT's consensus failed: ${failure}`, disk?.found ?? []].flat().join('; ')
}

async function isMoving(rpc: NodeRpc, height: number): Promise<boolean> {
  for (const endMs = performance.now() + WATCH_MS; performance.now() < endMs; await sleep(PAUSE_MS)) {
    if ((await rpc.status()).latestHeight > height) return true
  }
  return false
}

/** Whether blocks come, and when none do why not. Nothing of a node that catches up, or whose chain has not begun. */
export async function examineBlocks(
  rpc: NodeRpc,
  { latestHeight: height, latestTimeMs, catchingUp }: NodeStatus,
  home: string,
): Promise<readonly Finding[]> {
  if (catchingUp || height === 0) return []
  const before = await rpc.block(height - 1).catch(() => undefined)
  const stalledMs = Date.now() - latestTimeMs
  const limitMs = stalledAfterMs(before === undefined ? [] : [latestTimeMs - before.timeMs])
  if (stalledMs < limitMs || (await isMoving(rpc, height)))
    return [{ check: 'blocks', verdict: 'ok', found: `${height} is the last one` }]
  const why =
    stallCauses(home) ||
    'Either validators with a third of the voting power are away, or CometBFT has failed and its log says ' +
      'CONSENSUS FAILURE'
  return [{ check: 'blocks', verdict: 'bad', found: `${stallReason({ stalledMs, height })}. ${why}` }]
}
