import { expect, test } from '@jest/globals'
import type { FinalizeBlockRequest } from '../../src/abci/types.ts'
import { legacyCalls } from '../chain/support.ts'
import { account, TestChain } from '../support/testChain.ts'
import { genesisOf, proposed, retire, voted } from '../modules/governance/support.ts'

/** A program executes the blocks of its own program version only. Source: protocol.md §7, retire_program. */

const POINT = 6
const POWERS = [60, 30, 10]

/** The blocks of a chain that retires version 1 in block POINT and goes on, as CometBFT would replay them. */
function recordedBlocks(): readonly FinalizeBlockRequest[] {
  const chain = new TestChain()
  const blocks: FinalizeBlockRequest[] = []
  const { app } = chain
  Object.assign(chain, {
    app: {
      ...app,
      finalizeBlock: (block: FinalizeBlockRequest) => {
        blocks.push(block)
        return app.finalizeBlock(block)
      },
    },
  })
  chain.init(genesisOf(POWERS))
  chain.block()
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([1, 2], { retiredBlockHeight: POINT }))
  for (const number of [1, 2]) voted(chain, account(number), id)
  chain.advanceTo(POINT + 2)
  return blocks
}

/** A chain in which a program that executes `programVersion` stands before block 1. */
function replaying(programVersion: number): TestChain {
  const chain = new TestChain({ app: { programVersion } })
  chain.init(genesisOf(POWERS))
  return chain
}

const BLOCKS = recordedBlocks()
const blockAt = (height: number): FinalizeBlockRequest => BLOCKS[height - 1] as FinalizeBlockRequest

test('a replay by the first program stops before the first block of the second, and says why', () => {
  const { app, store } = replaying(1)
  for (const block of BLOCKS.slice(0, POINT)) {
    app.finalizeBlock(block)
    app.commit({})
  }
  expect(() => app.finalizeBlock(blockAt(POINT + 1))).toThrow(
    `block ${POINT + 1} is not executed: the chain runs program version 2, but this program executes version 1, which was retired`,
  )
  expect(() => app.commit({})).toThrow()
  expect(store.height()).toBe(POINT)
})

test('the second program refuses the blocks of the first, from genesis on, in either dialect', () => {
  const { app, store } = replaying(2)
  const why = /block 1 is not executed: the chain runs program version 1, but this program executes version 2/
  expect(() => app.finalizeBlock(blockAt(1))).toThrow(why)
  expect(() => legacyCalls(app, blockAt(1))[0]?.()).toThrow(why)
  expect(store.height()).toBe(0)
})

test('the second program goes on where the first one stopped', () => {
  const first = replaying(1)
  for (const block of BLOCKS.slice(0, POINT)) {
    first.app.finalizeBlock(block)
    first.app.commit({})
  }
  const { app } = new TestChain({ store: first.store, app: { programVersion: 2 } })
  for (const block of BLOCKS.slice(POINT)) {
    app.finalizeBlock(block)
    app.commit({})
  }
  expect(first.store.height()).toBe(POINT + 2)
})
