import { expect, test } from '@jest/globals'
import { supplyOf } from '../../../src/modules/chain/keeper.ts'
import { account, evidence, TestChain } from '../../support/testChain.ts'
import { recordOf, startChain } from '../support.ts'

const supply = (chain: TestChain) => chain.query('/chain/supply') as Readonly<Record<string, string>>

test('the supply is that of genesis, what awards minted and what slashing burned', () => {
  const chain = startChain([1000, 1000, 1000])
  const { genesis_supply: genesis } = supply(chain)
  expect(supply(chain)).toEqual({ supply: genesis, genesis_supply: genesis, minted: '0', burned: '0' })
  chain.block()
  const { shares } = recordOf(chain, account(2))
  chain.block({ misbehavior: [evidence(2, 2)] })
  const { supply: now, minted, burned, genesis_supply } = supply(chain)
  expect(burned).toBe(String(shares / 20n))
  expect(BigInt(minted ?? '')).toBeGreaterThan(0n)
  expect(genesis_supply).toBe(genesis)
  expect(BigInt(now ?? '')).toBe(BigInt(genesis ?? '') + BigInt(minted ?? '') - BigInt(burned ?? ''))
  expect(now).toBe(String(supplyOf(chain.store)))
})

test('before the first block there is none', () => {
  const zeros = { supply: '0', genesis_supply: '0', minted: '0', burned: '0' }
  expect(supply(new TestChain())).toEqual(zeros)
})
