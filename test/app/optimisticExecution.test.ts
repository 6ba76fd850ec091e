import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, jest, test } from '@jest/globals'
import { account, evidence, type TestBlock, type TestChain } from '../support/testChain.ts'
import { bytesOf, key, startChain } from '../modules/support.ts'

const SHARES = [1000, 500, 400]
const AHEAD = { app: { afterAnswer: setImmediate } }

let chain: TestChain
let twin: TestChain
/** How many blocks `chain` has run since it began. */
let runs: () => number

beforeEach(() => {
  chain = startChain(SHARES, {}, AHEAD)
  twin = startChain(SHARES)
  const prepare = jest.spyOn(chain.store, 'prepare')
  runs = () => prepare.mock.calls.length
})

const transfers = (from: TestChain): Uint8Array[] =>
  [0, 1, 5].map((nonce) => from.tx(account(5), 'transfer', { to: bytesOf(account(6)), value: '7' }, nonce))

test('an accepted proposal is run before it is decided, once, and is what a node that did not run it ahead comes to', async () => {
  const blocks = [
    { txs: transfers(chain).slice(0, 2), absent: [key(2)] },
    {},
    { misbehavior: [evidence(3, 3)] },
    { absent: [key(2)] },
  ]
  for (const block of blocks) {
    const before = runs()
    expect(chain.propose(block)).toBe(1)
    expect(runs()).toBe(before)
    await turn()
    expect(runs()).toBe(before + 1)
    // Nothing of it is there before it is decided and committed.
    expect(chain.store.appHash()).toEqual(twin.store.appHash())
    expect(() => chain.app.commit({})).toThrow('Commit came without a block before it')
    expect(chain.block(block).response).toEqual(twin.block(block).response)
    expect(runs()).toBe(before + 1)
    expect(chain.store.appHash()).toEqual(twin.store.appHash())
  }
})

test('a block other than the one run ahead is run, whatever differs', async () => {
  const txs = transfers(chain).slice(0, 1)
  const ahead: TestBlock = { txs, absent: [key(2)], seconds: 4 }
  const others: TestBlock[] = [
    { ...ahead, txs: [] },
    { ...ahead, txs: transfers(chain).slice(0, 2) },
    { ...ahead, absent: [key(3)] },
    { ...ahead, absent: [] },
    { ...ahead, seconds: 5 },
    { ...ahead, misbehavior: [evidence(3, 1)] },
  ]
  for (const other of others) {
    const fresh = startChain(SHARES)
    chain = startChain(SHARES, {}, AHEAD)
    expect(chain.propose(ahead)).toBe(1)
    await turn()
    expect(chain.block(other).response).toEqual(fresh.block(other).response)
    expect(chain.store.appHash()).toEqual(fresh.store.appHash())
  }
})

test('of several proposals the last one counts; one that is decided at once is run once; one that is rejected is not run', async () => {
  const txs = transfers(chain).slice(0, 2)
  chain.propose({ seconds: 2 })
  await turn()
  chain.propose({ txs })
  await turn()
  const before = runs()
  expect(chain.block({ txs }).response).toEqual(twin.block({ txs }).response)
  expect(runs()).toBe(before)
  chain.propose({})
  expect(chain.finalize()).toEqual(twin.finalize())
  await turn()
  expect(runs()).toBe(before + 1)
  chain.app.commit({})
  expect(chain.store.height()).toBe(3)
  expect(chain.propose({ txs: transfers(chain).slice(2) })).toBe(2)
  await turn()
  expect(runs()).toBe(before + 1)
})

test('what a proposal throws when it is run ahead is told by FinalizeBlock, and a good block goes on', async () => {
  chain.height = 7
  chain.propose({})
  await turn()
  expect(() => chain.finalize()).toThrow('block 8 does not follow the head: expected 2')
  chain.height = 1
  expect(chain.block().response).toEqual(twin.block().response)
})
