import { expect, test } from '@jest/globals'
import type { InfoResponse } from '../../src/abci/types.ts'
import { createApp } from '../../src/app/app.ts'
import { OtherProgramVersion } from '../../src/app/programVersion.ts'
import { tables } from '../../src/modules/registry.ts'
import { legacyCalls } from '../chain/support.ts'
import { govChain, proposed, retire, voted } from '../modules/governance/support.ts'
import { openMemoryStore } from '../support/memoryStore.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'

/** A program executes the blocks of its own program version only. Source: protocol.md §7, retire_program. */

test('the second program refuses the blocks of the first, in either dialect', () => {
  const first = govChain([60, 30, 10], {}, { app: { programVersion: 1 } })
  const block = { ...first.next(), decidedLastCommit: first.lastCommit() }
  const { app, store } = new TestChain({ store: first.store, app: { programVersion: 2 } })
  const why = 'this program runs version 2, but the chain is at version 1'
  expect(() => app.finalizeBlock(block)).toThrow(why)
  expect(() => legacyCalls(app, block)[0]?.()).toThrow(why)
  expect(store.height()).toBe(1)
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
  expect(() => chain.app.commit({})).toThrow()
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
