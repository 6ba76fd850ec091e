import { describe, expect, test } from '@jest/globals'
import { addressOfKey } from '../../../src/values/address.ts'
import { getTotals, supplyOf, totals } from '../../../src/modules/chain/keeper.ts'
import { payAward } from '../../../src/modules/stake/block.ts'
import { AWARD_EVENT_BLOCKS } from '../../../src/modules/shownRules.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { account, nodeKey, type TestBlockResult, type TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, done, eventsOf, indexOf, key, nextBlock, recordOf, startChain } from '../support.ts'

// Two validators of 750 and 500 power: 1,000 shares are capped to a half of 1,500.
const start = () => startChain([1000, 500], { params: { gas_price: 0 } })
const awardOf = (supply: bigint, ms: number): bigint => (supply * 8n * BigInt(ms)) / (100n * 31_536_000_000n)

describe('award', () => {
  test('nothing is minted in the first block', () => {
    expect(getTotals(start().store).minted).toBe(0n)
  })

  test('it is shared by power, each part rounds down, and the rest is not minted', () => {
    const chain = start()
    const award = awardOf(supplyOf(chain.store), 1000)
    chain.block()
    const parts = [(award * 750n) / 1250n, (award * 500n) / 1250n] as const
    expect([recordOf(chain, account(1)).shares, recordOf(chain, account(2)).shares]).toEqual([
      tokens(1000) + parts[0],
      tokens(500) + parts[1],
    ])
    expect(getTotals(chain.store).minted).toBe(parts[0] + parts[1])
    expect(award - parts[0] - parts[1]).toBeLessThan(2n)
  })

  test.each([
    [10, 10_000],
    [11, 10_000],
    [86_400, 10_000],
    [2, 2000],
    [0, 0],
  ])('%d seconds between two blocks count as %d ms', (seconds, ms) => {
    const chain = start()
    const award = awardOf(supplyOf(chain.store), ms)
    chain.block({ seconds })
    expect(getTotals(chain.store).minted).toBe((award * 750n) / 1250n + (award * 500n) / 1250n)
  })

  test('minted units count as supply for the next award, and updated_at stays', () => {
    const chain = start()
    chain.block()
    const { minted } = getTotals(chain.store)
    const award = awardOf(supplyOf(chain.store), 1000)
    chain.block()
    expect(getTotals(chain.store).minted - minted).toBe((award * 750n) / 1250n + (award * 500n) / 1250n)
    expect(recordOf(chain, account(1)).updatedAt).toBe(recordOf(chain, account(1)).createdAt)
  })

  test('who was absent is not paid, and its part goes to nobody', () => {
    const chain = start()
    const award = awardOf(supplyOf(chain.store), 1000)
    chain.block({ absent: [key(1)] })
    expect([recordOf(chain, account(1)).shares, getTotals(chain.store).minted]).toEqual([
      tokens(1000),
      (award * 500n) / 1250n,
    ])
  })

  test.each(['deactivateCandidacy', 'withdrawCandidacy'])(
    'who is no longer eligible after %s is not paid',
    (operation) => {
      const chain = start()
      const award = awardOf(supplyOf(chain.store), 1000)
      done(chain, account(1), operation)
      expect(getTotals(chain.store).minted).toBe((award * 500n) / 1250n)
    },
  )

  test('shares fill up to max_shares and what is beyond goes to the owner', () => {
    const chain = startChain([], {
      params: { gas_price: 0 },
      candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(1000), maxShares: tokens(1000) + 5n }],
    })
    const award = awardOf(supplyOf(chain.store), 1000)
    chain.block()
    expect([recordOf(chain, account(1)).shares, balanceOf(chain, account(1))]).toEqual([
      tokens(1000) + 5n,
      tokens(100_000) + award - 5n,
    ])
    chain.block()
    expect(recordOf(chain, account(1)).shares).toBe(tokens(1000) + 5n)
  })

  test('a member whose key nobody is known to hold counts in the total and is not paid', () => {
    const chain = start()
    const overlay = createOverlay(chain.store)
    const vote = (number: number) => ({ validator: addressOfKey(nodeKey(number)), power: 100, signed: true })
    payAward(overlay, nextBlock(chain), [vote(1), vote(77)])
    expect(getTotals(overlay).minted).toBe(awardOf(supplyOf(chain.store), 1000) / 2n)
  })

  test.each([
    [9n * 10n ** 33n, false],
    [9n * 10n ** 33n - 1n, true],
  ])('at a supply of %d something is minted: %s', (supply, minted) => {
    const chain = start()
    const overlay = createOverlay(chain.store)
    overlay.put(totals, { genesisSupply: supply, minted: 0n, burned: 0n })
    payAward(overlay, nextBlock(chain), [{ validator: addressOfKey(nodeKey(1)), power: 1, signed: true }])
    expect(getTotals(overlay).minted > 0n).toBe(minted)
  })

  test('an inflation rate of 0 mints nothing', () => {
    const chain = startChain([1000], { params: { inflation_rate: 0 } })
    chain.block()
    expect(getTotals(chain.store).minted).toBe(0n)
  })
})

describe('the event of an award', () => {
  const toBlock = (chain: TestChain, height: number): void => {
    while (chain.height < height - 1) chain.block()
  }
  const awardsIn = ({ response }: TestBlockResult) =>
    eventsOf(response).filter((text) => text.startsWith('svc.stake.award '))

  test(`is told in every ${AWARD_EVENT_BLOCKS}th block, for each owner that is paid, and nothing else finds the block`, () => {
    const chain = start()
    toBlock(chain, AWARD_EVENT_BLOCKS - 1)
    expect(eventsOf(chain.block().response)).toEqual([])
    const award = awardOf(supplyOf(chain.store), 1000)
    const told = chain.block()
    expect(told.height).toBe(AWARD_EVENT_BLOCKS)
    expect([...awardsIn(told)].sort()).toEqual(
      [
        `svc.stake.award owner=${account(1).address} amount=${(award * 750n) / 1250n}`,
        `svc.stake.award owner=${account(2).address} amount=${(award * 500n) / 1250n}`,
      ].sort(),
    )
    expect(indexOf(told.response)).toEqual([])
    expect(awardsIn(chain.block())).toEqual([])
    toBlock(chain, 2 * AWARD_EVENT_BLOCKS)
    expect(awardsIn(chain.block())).toHaveLength(2)
  })

  test('what is paid to shares and to the balance is one amount, and so are the parts of two keys of one candidacy', () => {
    const chain = startChain([], {
      candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(1000), maxShares: tokens(1000) + 5n }],
    })
    const overlay = createOverlay(chain.store)
    const vote = { validator: addressOfKey(nodeKey(1)), power: 100, signed: true }
    const part = awardOf(supplyOf(chain.store), 1000) / 2n
    const block = { ...nextBlock(chain), height: AWARD_EVENT_BLOCKS }
    expect(payAward(overlay, block, [vote, vote])).toEqual([
      { type: 'svc.stake.award', attributes: { owner: account(1).address, amount: String(2n * part) } },
    ])
    expect(payAward(overlay, { ...block, height: AWARD_EVENT_BLOCKS - 1 }, [vote])).toEqual([])
  })

  test('who is absent, and a block that pays nothing, has none', () => {
    const chain = start()
    toBlock(chain, AWARD_EVENT_BLOCKS)
    const told = chain.block({ absent: [key(1)] })
    expect(awardsIn(told).map((text) => text.includes(account(2).address))).toEqual([true])
    // The block still is about the first one, who missed it.
    expect(indexOf(told.response)).toEqual([`svc.block validator=${account(1).address}`])
    toBlock(chain, 2 * AWARD_EVENT_BLOCKS)
    expect(awardsIn(chain.block({ seconds: 0 }))).toEqual([])
  })
})
