import { expect, test } from '@jest/globals'
import type { FinalizeBlockRequest, InfoResponse } from '../../src/abci/types.ts'
import { createApp } from '../../src/app/app.ts'
import { OtherProgramVersion } from '../../src/app/programVersion.ts'
import { tables } from '../../src/modules/registry.ts'
import { legacyCalls } from '../chain/support.ts'
import { genesisOf, govChain, proposed, retire, voted } from '../modules/governance/support.ts'
import { openMemoryStore } from '../support/memoryStore.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'

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
    'this program runs version 1, but the chain is at version 2',
  )
  expect(() => app.commit({})).toThrow()
  expect(store.height()).toBe(POINT)
})

test('the second program refuses the blocks of the first, in either dialect', () => {
  const first = replaying(1)
  first.app.finalizeBlock(blockAt(1))
  first.app.commit({})
  const { app, store } = new TestChain({ store: first.store, app: { programVersion: 2 } })
  const why = 'this program runs version 2, but the chain is at version 1'
  expect(() => app.finalizeBlock(blockAt(2))).toThrow(why)
  expect(() => legacyCalls(app, blockAt(2))[0]?.()).toThrow(why)
  expect(store.height()).toBe(1)
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

const toldBy = ({ app }: TestChain): unknown =>
  JSON.parse((app.info({ version: '', blockVersion: 0, p2pVersion: 0, abciVersion: '' }) as InfoResponse).data ?? '')

function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test('a program executes the blocks of its own program version, and none after the one that retires it', () => {
  const chain: TestChain = govChain([40, 30], {}, { app: { programVersion: 1 } })
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([1, 2], { retiredBlockHeight: 6 }))
  voted(chain, account(1), id)
  voted(chain, account(2), id)
  expect(toldBy(chain)).toEqual({ name: 'svcd', program_version: 1, chain_program_version: 1 })
  while (chain.store.height() < 6) chain.block()
  expect(toldBy(chain)).toEqual({ name: 'svcd', program_version: 1, chain_program_version: 2 })
  const [head, hash] = [chain.store.height(), chain.store.appHash()]
  const refused = thrownBy(() => chain.finalize())
  expect(refused).toBeInstanceOf(OtherProgramVersion)
  expect(refused).toMatchObject({
    runs: 1,
    chain: 2,
    message: 'this program runs version 1, but the chain is at version 2',
  })
  expect([chain.store.height(), chain.store.appHash()]).toEqual([head, hash])

  const { store } = chain
  const successor = createApp({ store, version: 'test', logger: { info() {}, error() {} }, programVersion: 2 })
  Object.assign(chain.app, successor)
  chain.block()
  expect(store.height()).toBe(head + 1)
})

test('a successor that is to replay a chain from genesis refuses InitChain, and has no state afterwards', () => {
  const chain = new TestChain({ store: openMemoryStore({ tables }), app: { programVersion: 2 } })
  expect(toldBy(chain)).toEqual({ name: 'svcd', program_version: 2 })
  const genesis = { accounts: [], candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }] }
  expect(thrownBy(() => chain.init(genesis))).toMatchObject({ name: 'OtherProgramVersion', runs: 2, chain: 1 })
  expect(thrownBy(() => chain.finalize())).toBeInstanceOf(Error)
  expect(chain.store.height()).toBe(0)
})
