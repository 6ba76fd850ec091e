import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { CommitResponse } from '../../src/abci/types.ts'
import { tables } from '../../src/modules/registry.ts'
import { openMemoryStore } from '../support/memoryStore.ts'
import { keepNewest, listSnapshots } from '../../src/store/snapshot/folder.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { changeParam, startChain } from '../modules/support.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('retain')
afterAll(remove)
let runs = 0

/** One life of a node between two restarts: its settings, and how many blocks it makes. */
interface Life {
  readonly keepBlocks: number
  readonly interval: number
  readonly keep: number
  readonly blocks: number
}

const life = fc.record({
  keepBlocks: fc.constantFrom(0, 2, 3, 7, 20),
  interval: fc.constantFrom(0, 1, 2, 5, 11),
  keep: fc.integer({ min: 2, max: 4 }),
  blocks: fc.integer({ min: 0, max: 12 }),
})

/** Tells the retainHeight of each Commit of `chain` from now on. */
function watchRetainHeight(chain: TestChain): () => number {
  let retainHeight = 0
  const { commit } = chain.app
  Object.assign(chain.app, {
    commit: (request: object) => {
      const response = commit(request) as CommitResponse
      retainHeight = response.retainHeight ?? 0
      return response
    },
  })
  return () => retainHeight
}

/** What CometBFT has: blocks from `base` on. It prunes what a Commit allows and never more. */
function live(lives: readonly Life[], unstakeWaitPeriod: number): void {
  const store = openMemoryStore({ tables })
  const path = join(folder, String(runs++))
  const genesis = {
    accounts: [],
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }],
    params: { unstake_wait_period: unstakeWaitPeriod },
  }
  let chain = new TestChain({ store })
  const evidenceBlocks = Math.max(1, unstakeWaitPeriod - 2)
  let base = 1
  for (const { keepBlocks, interval, keep, blocks } of lives) {
    const beginAt = (height: number): void => {
      if (height % interval !== 0) return
      writeSnapshot(store, tables, path)
      keepNewest(path, keep)
    }
    const snapshots = { folder: path, restorePath: '', replaceBy: () => {}, ...(interval === 0 ? {} : { beginAt }) }
    const next = new TestChain({ store, app: { snapshots, keepBlocks } })
    Object.assign(next, { height: chain.height, time: chain.time })
    for (const [height, set] of chain.sets) next.sets.set(height, set)
    if (chain.height === 0) next.init(genesis)
    chain = next
    const retained = watchRetainHeight(chain)
    for (let at = 0; at < blocks; at++) {
      const oldest = interval === 0 ? undefined : listSnapshots(path).at(-1)?.metadata.height
      chain.block()
      const [{ height }, retainHeight] = [chain, retained()]
      if (retainHeight > 0) base = Math.max(base, retainHeight)
      // Nothing that is needed is gone: the newest blocks that were asked for, those that evidence may name, and what
      // follows a snapshot.
      expect(retainHeight).toBeLessThanOrEqual(Math.max(0, height - keepBlocks + 1))
      expect(retainHeight).toBeLessThanOrEqual(Math.max(0, height - evidenceBlocks))
      if (oldest !== undefined) expect(retainHeight).toBeLessThanOrEqual(oldest)
      if (keepBlocks === 0) expect(retainHeight).toBe(0)
      // And what is not needed is.
      else
        expect(retainHeight).toBe(
          Math.max(0, Math.min(height - keepBlocks + 1, height - evidenceBlocks, oldest ?? height)),
        )
      expect(store.block(base)?.height).toBe(base)
      expect(store.block(base - 1)).toBeUndefined()
      expect([store.block(height)?.height, store.block(height - 1)?.height]).toEqual([
        height,
        height > 1 ? height - 1 : undefined,
      ])
      expect(listSnapshots(path).length).toBeLessThanOrEqual(Math.max(4, keep))
    }
  }
  if (chain.height > 0)
    expect([...store.scan(tables.find(({ name }) => name === 'params') as never)].length).toBeGreaterThanOrEqual(11)
}

test('whatever the settings are from restart to restart, no block goes that is needed and the rest goes', () => {
  fc.assert(fc.property(fc.array(life, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 3, 12, 40), live), {
    numRuns: 60,
  })
})

test('a longer unstake_wait_period keeps the blocks that evidence may name from the block on that sends it', () => {
  const chain = startChain([1000], { params: { unstake_wait_period: 3 } }, { app: { keepBlocks: 2 } })
  const retained = watchRetainHeight(chain)
  chain.block()
  expect(retained()).toBe(chain.height - 1)
  changeParam(chain, 'unstake_wait_period', '1000')
  expect(retained()).toBe(0)
  chain.block()
  expect(retained()).toBe(0)
})
