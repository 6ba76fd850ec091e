import { describe, expect, test } from '@jest/globals'
import { account, nodeKey, tokens } from '../../support/testChain.ts'
import {
  balanceOf,
  bytesOf,
  done,
  eventsOf,
  failure,
  key,
  keyText,
  recordOf,
  startChain,
  updatesOf,
} from '../support.ts'

const FEE = 1_000_000n * 2_000_000_000n
const foundation = account(30)

describe('update', () => {
  test('nothing given changes only updated_at, and costs the fee', () => {
    const chain = startChain()
    const before = recordOf(chain, account(1))
    const result = done(chain, account(1), 'updateCandidacy')
    // The award of the block goes to shares.
    expect(recordOf(chain, account(1))).toEqual({ ...before, shares: expect.anything(), updatedAt: chain.time })
    expect(balanceOf(chain, account(1))).toBe(tokens(100_000) - FEE)
    expect([result.gasWanted, result.gasUsed]).toEqual([1_000_000, 1_000_000])
    expect(eventsOf(result)).toEqual([
      `svc.stake.update sender=${account(1).address} owner=${account(1).address} pub_key=${keyText(1)}`,
    ])
  })

  test('a given description sets verified N, and members it leaves out keep their value', () => {
    const chain = startChain([1000], { stake: { foundation_address: foundation.address } })
    done(chain, account(1), 'updateCandidacy', {
      description: { name: 'a', website: 'w', location: 'l', email: 'e', profile: 'p' },
    })
    done(chain, foundation, 'verifyCandidacy', { candidateAddress: bytesOf(account(1)), verified: 'Y' })
    done(chain, account(1), 'updateCandidacy', { compRate: '0.75' })
    expect(recordOf(chain, account(1))).toMatchObject({ verified: true, compRate: 75n * 10n ** 16n })
    done(chain, account(1), 'updateCandidacy', { description: { website: '' } })
    expect(recordOf(chain, account(1))).toMatchObject({
      verified: false,
      name: 'a',
      website: '',
      location: 'l',
      email: 'e',
      profile: 'p',
    })
  })

  test('an empty description is given too', () => {
    const chain = startChain([1000], { stake: { foundation_address: foundation.address } })
    done(chain, foundation, 'verifyCandidacy', { candidateAddress: bytesOf(account(1)), verified: 'Y' })
    done(chain, account(1), 'updateCandidacy', { description: {} })
    expect(recordOf(chain, account(1)).verified).toBe(false)
  })

  test('maxAmount stakes what is missing, rounded up, and never gives back', () => {
    const chain = startChain([1000], { params: { inflation_rate: 0 } })
    done(chain, account(1), 'updateCandidacy', { maxAmount: String(tokens(20_000) + 1n) })
    expect(recordOf(chain, account(1))).toMatchObject({ shares: tokens(2000) + 1n, maxShares: tokens(20_000) + 1n })
    expect(balanceOf(chain, account(1))).toBe(tokens(99_000) - 1n - FEE)
    done(chain, account(1), 'updateCandidacy', { maxAmount: String(tokens(2000) + 1n) })
    expect(recordOf(chain, account(1))).toMatchObject({ shares: tokens(2000) + 1n, maxShares: tokens(2000) + 1n })
    expect(failure(chain, account(1), 'updateCandidacy', { maxAmount: String(tokens(2000)) })).toMatch(
      /^20 Invalid parameter: maxAmount: /,
    )
  })

  test('a balance of the missing stake and the fee is spent whole; one unit less is not enough', () => {
    const chain = startChain([1000], { params: { inflation_rate: 0 } })
    const most = (tokens(101_000) - FEE) * 10n
    expect(failure(chain, account(1), 'updateCandidacy', { maxAmount: String(most + 1n) })).toBe(
      '20 Insufficient balance',
    )
    done(chain, account(1), 'updateCandidacy', { maxAmount: String(most) })
    expect(balanceOf(chain, account(1))).toBe(0n)
  })

  test('without maxAmount nothing more is staked, whatever the ratio', () => {
    const chain = startChain([1000], { params: { inflation_rate: 0, self_staking_ratio: '1' } })
    done(chain, account(1), 'updateCandidacy', { compRate: '1' })
    expect(recordOf(chain, account(1)).shares).toBe(tokens(1000))
  })

  test('errors win in the order of the table: no candidacy, pubKey, maxAmount, balance', () => {
    const chain = startChain([1000, 1000])
    expect(failure(chain, account(5), 'updateCandidacy', { pubKey: nodeKey(1), maxAmount: '1' })).toBe(
      '1 cannot edit non-exsits candidacy',
    )
    expect(failure(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(2), maxAmount: '1' })).toBe(
      '1 pubkey has been declared',
    )
    expect(failure(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(9), maxAmount: '1' })).toMatch(
      /^20 Invalid parameter: maxAmount: /,
    )
    expect(failure(chain, account(1), 'updateCandidacy', { maxAmount: String(tokens(10_000_000)) })).toBe(
      '20 Insufficient balance',
    )
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    done(chain, account(5), 'withdrawCandidacy')
    expect(failure(chain, account(5), 'updateCandidacy')).toBe('1 cannot edit non-exsits candidacy')
  })

  test('its own pubKey may be given; a new one joins the set from this block on, and the old one is its own again', () => {
    const chain = startChain([1000, 1000])
    done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(1) })
    const { response } = chain.block({ txs: [chain.tx(account(1), 'updateCandidacy', { pubKey: nodeKey(9) })] })
    expect(updatesOf(response)).toEqual([
      [key(1), 0],
      [key(9), 1],
    ])
    done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(1) })
  })
})
