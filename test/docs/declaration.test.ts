/** What a declaration stakes by default, where people read of it before they declare. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { TOKEN } from '../../src/base/amount.ts'
import { getChain } from '../../src/modules/chain/keeper.ts'
import { declareCandidacy } from '../../src/modules/stake/tx/declareCandidacy.ts'
import { paramsInForce } from '../../src/modules/params/keeper.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'

const root = join(import.meta.dirname, '../..')
const chain = new TestChain()
chain.init({ accounts: [], candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }] })
chain.block()
const percent = (Number(paramsInForce(chain.store, 2).selfStakingRatio) / Number(TOKEN)) * 100
const most = getChain(chain.store).defaultMaxAmount / TOKEN
const staked = (most * BigInt(percent)) / 100n
const count = (number: bigint): string => number.toLocaleString('en')

test.each([
  ['README.md', readFileSync(join(root, 'README.md'), 'utf8')],
  ['docs/client.md', readFileSync(join(root, 'docs/client.md'), 'utf8')],
  ['the help of svcd tx stake declare, methods.md and OpenRPC', declareCandidacy.doc],
])('%s says how much', (_, text) => {
  expect([percent, most, staked]).toEqual([10, 10_000n, 1000n])
  expect(text.replaceAll('\n', ' ')).toMatch(
    new RegExp(`stakes ${percent} % of (?:its )?.?maxAmount\\W[^.]*: ${count(staked)} tokens by default`),
  )
})
