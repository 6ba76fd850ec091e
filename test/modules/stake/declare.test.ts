import { NO_POOL } from '../../support/noPool.ts'
import { describe, expect, test } from '@jest/globals'
import { parseAddress } from '../../../src/values/address.ts'
import { account, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, done, eventsOf, failure, key, keyText, recordOf, startChain } from '../support.ts'

const FEE = 1_000_000n * 2_000_000_000n
const HOLD = parseAddress(`0x${'f'.repeat(40)}`) ?? account(1).address

const refusal = (chain: TestChain, by: number, message: Readonly<Record<string, unknown>>): string =>
  failure(chain, account(by), 'declareCandidacy', message)

describe('declare', () => {
  test('the sender stakes a tenth of 10,000 tokens and every column has its first value', () => {
    const chain = startChain()
    const result = done(chain, account(5), 'declareCandidacy', {
      pubKey: nodeKey(5),
      description: { name: 'five', email: 'e' },
    })
    expect(recordOf(chain, account(5))).toEqual({
      id: 2,
      pubKey: key(5),
      ownerAddress: account(5).address,
      shares: tokens(1000),
      maxShares: tokens(10_000),
      compRate: 5n * 10n ** 17n,
      name: 'five',
      website: '',
      location: '',
      email: 'e',
      profile: '',
      verified: false,
      active: true,
      withdrawn: false,
      blockHeight: 2,
      createdAt: chain.time,
      updatedAt: chain.time,
      ...NO_POOL,
    })
    expect(balanceOf(chain, account(5))).toBe(tokens(99_000) - FEE)
    expect(balanceOf(chain, HOLD)).toBe(FEE)
    expect([result.gasWanted, result.gasUsed, result.data ?? new Uint8Array(0)]).toEqual([
      1_000_000,
      1_000_000,
      new Uint8Array(0),
    ])
    expect(eventsOf(result)).toEqual([
      `svc.stake.declare sender=${account(5).address} owner=${account(5).address} pub_key=${keyText(5)}`,
    ])
  })

  test('the genesis stake constants are the defaults, and given members stand instead of them', () => {
    const chain = startChain([1000], { stake: { default_max_amount: String(tokens(70)), default_comp_rate: '0.25' } })
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    expect(recordOf(chain, account(5))).toMatchObject({
      shares: tokens(7),
      maxShares: tokens(70),
      compRate: 25n * 10n ** 16n,
    })
    done(chain, account(6), 'declareCandidacy', { pubKey: nodeKey(6), maxAmount: String(tokens(50)), compRate: '0' })
    expect(recordOf(chain, account(6))).toMatchObject({ id: 3, shares: tokens(5), maxShares: tokens(50), compRate: 0n })
  })

  test('the ratio in force is asked, not the one at genesis', () => {
    const chain = startChain([1000], { params: { self_staking_ratio: '1', declare_candidacy: 0, gas_price: 0 } })
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5), maxAmount: String(tokens(100_000)) })
    expect([recordOf(chain, account(5)).shares, balanceOf(chain, account(5))]).toEqual([tokens(100_000), 0n])
  })

  test('self-stake rounds up to the unit; just below 1 token is too little', () => {
    const chain = startChain()
    expect(refusal(chain, 5, { pubKey: nodeKey(5), maxAmount: String(tokens(10) - 10n) })).toBe(
      '20 Insufficient bond shares',
    )
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5), maxAmount: String(tokens(10) - 9n) })
    expect(recordOf(chain, account(5)).shares).toBe(tokens(1))
    done(chain, account(6), 'declareCandidacy', { pubKey: nodeKey(6), maxAmount: String(tokens(10) + 1n) })
    expect(recordOf(chain, account(6)).shares).toBe(tokens(1) + 1n)
  })

  test('a balance of stake and fee is spent whole; one unit less is not enough', () => {
    const chain = startChain()
    const selfStake = tokens(100_000) - FEE
    expect(refusal(chain, 5, { pubKey: nodeKey(5), maxAmount: String(selfStake * 10n + 1n) })).toBe(
      '20 Insufficient balance',
    )
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5), maxAmount: String(selfStake * 10n) })
    expect(balanceOf(chain, account(5))).toBe(0n)
  })

  test('errors win in the order of the table: pubKey, address, bond shares, balance', () => {
    const chain = startChain()
    const little = { maxAmount: '1' }
    expect(refusal(chain, 1, { pubKey: nodeKey(1), ...little })).toBe('1 pubkey has been declared')
    expect(refusal(chain, 1, { pubKey: nodeKey(5), ...little })).toBe('1 address has been declared')
    expect(refusal(chain, 50, { pubKey: nodeKey(5), ...little })).toBe('20 Insufficient bond shares')
    expect(refusal(chain, 50, { pubKey: nodeKey(5) })).toBe('20 Insufficient balance')
  })

  test('member formats are judged before the rules', () => {
    const chain = startChain()
    const pubKey = nodeKey(1)
    expect(refusal(chain, 1, { pubKey: pubKey.subarray(1) })).toBe(
      '20 Invalid parameter: pubKey: expected 32 bytes, got 31',
    )
    expect(refusal(chain, 1, { pubKey, compRate: '1.000000000000000001' })).toMatch(/^20 Invalid parameter: compRate: /)
    expect(refusal(chain, 1, { pubKey, compRate: '' })).toMatch(/^20 Invalid parameter: compRate: /)
    expect(refusal(chain, 1, { pubKey, maxAmount: '1e3' })).toMatch(/^20 Invalid parameter: maxAmount: /)
    expect(refusal(chain, 1, { pubKey, maxAmount: '' })).toMatch(/^20 Invalid parameter: maxAmount: /)
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5), compRate: '1' })
  })

  test.each([
    ['name', 128],
    ['website', 256],
    ['location', 128],
    ['email', 256],
    ['profile', 2048],
  ])('%s holds %d bytes of UTF-8 and not one more', (member, max) => {
    const chain = startChain()
    const full = 'é'.repeat(max / 2)
    expect(refusal(chain, 5, { pubKey: nodeKey(5), description: { [member]: `${full}x` } })).toBe(
      `20 Invalid parameter: description.${member}: expected at most ${max} bytes, got ${max + 1}`,
    )
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5), description: { [member]: full } })
    expect(recordOf(chain, account(5))).toMatchObject({ [member]: full })
  })

  test('a withdrawn record of the sender is replaced under a new id, and what it unbonds goes on', () => {
    const chain = startChain()
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5), description: { name: 'old' } })
    done(chain, account(5), 'withdrawCandidacy')
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    expect(recordOf(chain, account(5))).toMatchObject({ id: 3, name: '', shares: tokens(1000), withdrawn: false })
    expect(chain.query(`/stake/unbonding/${account(5).address}`)).toMatchObject([
      { amount: String(tokens(1000)), pub_key: { value: keyText(5) } },
    ])
    expect(chain.abciQuery('/store/candidacies/2').value).toEqual(new Uint8Array(0))
  })
})
