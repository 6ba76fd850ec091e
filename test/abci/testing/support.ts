import type { Random, TestChain, TestChainOptions } from '../../../src/abci/testing/index.ts'
import { type Disk, emptyDisk, register } from './smallApplication.ts'

/** A factory of disks, one for each node. */
export function disks(): (node: number) => Disk {
  const all: Disk[] = []
  return (node) => (all[node] ??= emptyDisk())
}

/** Names to register: new ones, and some that were registered. */
export function names(): (next: Random) => readonly Uint8Array[] {
  let count = 0
  return (next) => Array.from({ length: next(4) }, () => register(`name${next(3) === 0 ? next(count + 1) : count++}`))
}

/** What the chains of these tests have in common. */
export const OPTIONS: TestChainOptions = { seed: 3, queries: [{ path: '/count' }] }

/** Random heights, one more node from a snapshot, and some heights more. */
export async function live(chain: TestChain): Promise<void> {
  const txs = names()
  await chain.restart()
  await chain.run(20, txs)
  await chain.stateSync()
  await chain.run(4, txs)
  await chain.restart()
}
