import Database from 'better-sqlite3'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { onDisk } from '../chain/support.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { amountOf, delegator, stakeTokens, validator } from './delegation.ts'
import { succeed } from './support.ts'

const folder = tempFolder('stakes')
afterAll(() => folder.remove())

test('the SQL of docs/operations.md shows who has staked with whom, and the validators', () => {
  const path = join(folder.path, 'state.db')
  const store = onDisk(path)
  const chain = new TestChain({ store })
  chain.init({
    accounts: [1, 3, 5, 6].map((number) => ({ address: account(number).address, balance: tokens(100_000) })),
    candidacies: [account(1), validator].map((owner, at) => ({ owner, key: nodeKey(at + 1), shares: tokens(900) })),
    params: { stake_limit: '1', inflation_rate: 0 },
  })
  chain.block()
  stakeTokens(chain, 2)
  stakeTokens(chain, 5, account(6))
  succeed(chain, delegator, 'svc_withdraw', { validatorAddress: validator.address, amount: amountOf(1) })
  store.close()
  const [{ code = '' } = {}] = examplesRunBy('test/conformance/stakesView.test.ts')
  const [stakes, validators] = [...code.matchAll(/^sqlite3 data\/state\.db '(.*)'/gm)].map(([, sql = '']) =>
    new Database(path, { readonly: true }).prepare(sql).all(),
  )
  expect(stakes).toEqual([
    { delegator: account(6).address, owner_address: validator.address, tokens: 5 },
    { delegator: delegator.address, owner_address: validator.address, tokens: 1 },
  ])
  expect(validators).toMatchObject([
    { owner_address: validator.address, shares: amountOf(906), delegated: amountOf(6), delegators: 2 },
    { owner_address: account(1).address, delegators: 0 },
  ])
})
