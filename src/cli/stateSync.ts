import type { StateSync } from '../comet/config.ts'
import { reasonOf } from '../comet/errors.ts'
import { openNodeRpc } from '../comet/rpc.ts'
import { parseUrl } from './command.ts'
import { UserError } from './userError.ts'

async function ask<T>(url: string, question: (rpc: ReturnType<typeof openNodeRpc>) => Promise<T>): Promise<T> {
  const rpc = openNodeRpc(url)
  try {
    return await question(rpc)
  } catch (error) {
    throw new UserError(`--state-sync: ${url} does not answer: ${reasonOf(error)}`)
  } finally {
    rpc.close()
  }
}

/**
 * Where a new node of `chainId` starts to trust: a new block of the first server, with the hash that all of them tell.
 * `text`: the RPC of two nodes or more, URL or HOST:PORT, with commas between. Throws a UserError when they are too
 * few, away, of another chain, or disagree.
 */
export async function stateSyncFrom(text: string, chainId: string): Promise<StateSync> {
  const servers = text.split(',').map((one) => parseUrl(one, '--state-sync'))
  const [first = ''] = servers
  if (servers.length < 2)
    throw new UserError('--state-sync: expected the RPC of two nodes or more: all are asked whether they agree')
  const { latestHeight } = await ask(first, (rpc) => rpc.status())
  // Two blocks back: one that every server has.
  const trustHeight = Math.max(1, latestHeight - 2)
  const blocks = await Promise.all(servers.map((url) => ask(url, (rpc) => rpc.block(trustHeight))))
  for (const [at, block] of blocks.entries()) {
    if (block.chainId !== chainId)
      throw new UserError(`--state-sync: ${servers[at]} is of chain ${block.chainId}, not of ${chainId}`)
    if (block.hash !== blocks[0]?.hash)
      throw new UserError(`--state-sync: ${first} and ${servers[at]} disagree on block ${trustHeight}`)
  }
  return { servers, trustHeight, trustHash: blocks[0]?.hash ?? '' }
}
