import { describe, expect, test } from '@jest/globals'
import { addressBytes, parseAddress } from '../../../src/values/address.ts'
import { takeBalance } from '../../../src/modules/accounts/keeper.ts'
import { getTotals } from '../../../src/modules/chain/keeper.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { account, TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, done, eventsOf, failure, lacking, startChain } from '../support.ts'

const HOLD = parseAddress(`0x${'f'.repeat(40)}`) ?? account(1).address
const FEE = 21_000n * 2_000_000_000n
const to = (number: number): Uint8Array => addressBytes(account(number).address)

describe('transfer', () => {
  test('value moves to the receiver and 21,000 gas at gas_price to hold_account', () => {
    const chain = startChain()
    const result = done(chain, account(5), 'transfer', { to: to(6), value: '7' })
    expect([balanceOf(chain, account(5)), balanceOf(chain, account(6)), balanceOf(chain, HOLD)]).toEqual([
      tokens(100_000) - 7n - FEE,
      tokens(100_000) + 7n,
      FEE,
    ])
    expect([result.gasWanted, result.gasUsed, result.data ?? new Uint8Array(0)]).toEqual([
      21_000,
      21_000,
      new Uint8Array(0),
    ])
    expect(eventsOf(result)).toEqual([
      `svc.accounts.transfer sender=${account(5).address} to=${account(6).address} value=7`,
    ])
    expect(result.events?.[0]?.attributes?.every(({ index }) => index)).toBe(true)
  })

  test('a balance equal to value and fee is spent whole; one unit less is not enough', () => {
    const chain = startChain()
    const all = tokens(100_000) - FEE
    expect(failure(chain, account(5), 'transfer', { to: to(6), value: String(all + 1n) })).toBe(
      '20 Insufficient balance',
    )
    expect(lacking(chain, account(5), 'transfer', { to: to(6), value: String(all + 1n) })).toBe(
      `${account(5).address} needs ${all + 1n + FEE} (fee ${FEE}), has ${all + FEE}`,
    )
    done(chain, account(5), 'transfer', { to: to(6), value: String(all) })
    expect(balanceOf(chain, account(5))).toBe(0n)
  })

  test('the fee is asked of the balance as it is before the effects', () => {
    const chain = startChain()
    expect(failure(chain, account(5), 'transfer', { to: to(5), value: String(tokens(100_000)) })).toBe(
      '20 Insufficient balance',
    )
    done(chain, account(5), 'transfer', { to: to(5), value: String(tokens(100_000) - FEE) })
    expect(balanceOf(chain, account(5))).toBe(tokens(100_000) - FEE)
  })

  test.each([
    ['0', '20 Invalid parameter: value: expected more than 0, got 0'],
    ['01', '20 Invalid parameter: value: expected decimal text'],
    ['', '20 Invalid parameter: value: expected decimal text'],
    ['-1', '20 Invalid parameter: value: expected decimal text'],
    [`1${'0'.repeat(36)}`, '20 Insufficient balance'],
    [`1${'0'.repeat(35)}1`, '20 Invalid parameter: value: expected decimal text'],
    [`1${'0'.repeat(37)}`, '20 Invalid parameter: value: expected decimal text'],
  ])('value %s fails', (value, error) => {
    expect(failure(startChain(), account(5), 'transfer', { to: to(6), value }).startsWith(error)).toBe(true)
  })

  test('an address of another length is named', () => {
    expect(failure(startChain(), account(5), 'transfer', { to: new Uint8Array(19), value: '1' })).toBe(
      '20 Invalid parameter: to: expected 20 bytes, got 19',
    )
  })

  test('a sender without a balance cannot pay, and its nonce is used in a block all the same', () => {
    const chain = startChain()
    const stranger = account(77)
    const { code, log, data, info } = chain.deliver(stranger, 'transfer', { to: to(6), value: '1' })
    expect([code, log, data?.length]).toEqual([20, 'Insufficient balance', 0])
    expect(JSON.parse(info ?? '')).toEqual({
      account: stranger.address,
      needed: String(FEE + 1n),
      fee: String(FEE),
      available: '0',
    })
    expect(chain.nonceOf(stranger)).toBe(1)
    expect(chain.query(`/accounts/${stranger.address}`)).toEqual({ address: stranger.address, balance: '0', nonce: 1 })
  })

  test('an emptied account that never sent leaves no row', () => {
    const chain = new TestChain()
    chain.init({
      accounts: [{ address: account(9).address, balance: 0n }],
      candidacies: [{ owner: account(1), key: new Uint8Array(32), shares: tokens(3) }],
    })
    chain.block()
    expect(chain.abciQuery(`/store/accounts/${account(9).address}`).value).toEqual(new Uint8Array(0))
    expect(getTotals(chain.store).genesisSupply).toBe(tokens(3))
  })
})

test('no balance can be taken that is not there', () => {
  const overlay = createOverlay(startChain().store)
  const { address } = account(5)
  expect(() => takeBalance(overlay, address, tokens(100_001))).toThrow(
    `accounts: ${address} has ${tokens(100_000)}, not ${tokens(100_001)}`,
  )
  expect([...overlay.changes()]).toEqual([])
})
