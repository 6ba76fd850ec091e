import { describe, expect, test } from '@jest/globals'
import { absences } from '../../../src/modules/stake/tables.ts'
import { account, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, bytesOf, done, eventsOf, failure, key, keyText, lacking, recordOf, startChain } from '../support.ts'

const still = { params: { inflation_rate: 0, gas_price: 0, unstake_wait_period: 5 } }
const unbonding = (chain: TestChain, number: number): unknown =>
  chain.query(`/stake/unbonding/${account(number).address}`)
const declare = (chain: TestChain, number: number, node = number): unknown =>
  done(chain, account(number), 'declareCandidacy', { pubKey: nodeKey(node) })

describe('withdraw', () => {
  test('all shares become one entry, paid in the EndBlock of height + unstake_wait_period', () => {
    const chain = startChain([1000, 1000], still)
    const result = done(chain, account(1), 'withdrawCandidacy')
    expect(chain.height).toBe(2)
    expect([result.gasUsed, result.data ?? new Uint8Array(0)]).toEqual([0, new Uint8Array(0)])
    expect(eventsOf(result)).toEqual([
      `svc.stake.withdraw sender=${account(1).address} owner=${account(1).address} pub_key=${keyText(1)}`,
    ])
    expect(recordOf(chain, account(1))).toMatchObject({
      shares: 0n,
      active: false,
      withdrawn: true,
      updatedAt: chain.time,
      maxShares: tokens(10_000),
    })
    expect(unbonding(chain, 1)).toEqual([
      {
        amount: String(tokens(1000)),
        pub_key: { type: 'tendermint/PubKeyEd25519', value: keyText(1) },
        completion_height: 7,
      },
    ])
    chain.advanceTo(6)
    expect(balanceOf(chain, account(1))).toBe(tokens(100_000))
    expect(eventsOf(chain.block().response)).toEqual([
      `svc.stake.unbonded owner=${account(1).address} amount=${tokens(1000)}`,
    ])
    expect([balanceOf(chain, account(1)), unbonding(chain, 1)]).toEqual([tokens(101_000), []])
  })

  test('the record is shown as Withdrawn with rank -1, and is not listed', () => {
    const chain = startChain([1000, 1000], still)
    done(chain, account(1), 'withdrawCandidacy')
    expect(chain.query(`/stake/validator/${account(1).address}`)).toMatchObject({
      state: 'Withdrawn',
      rank: -1,
      voting_power: 0,
      active: 'N',
    })
    expect(chain.query('/stake/validators')).toMatchObject([{ owner_address: account(2).address, rank: 0 }])
  })

  test('entries of one block are paid by number, to who owned the candidacy', () => {
    const chain = startChain([1000, 500, 400], still)
    chain.block({ txs: [chain.tx(account(3), 'withdrawCandidacy', {}), chain.tx(account(2), 'withdrawCandidacy', {})] })
    chain.advanceTo(6)
    expect(eventsOf(chain.block().response)).toEqual([
      `svc.stake.unbonded owner=${account(3).address} amount=${tokens(400)}`,
      `svc.stake.unbonded owner=${account(2).address} amount=${tokens(500)}`,
    ])
  })

  test('a deactivated candidacy may be withdrawn, and its pubKey is free once it is not held back', () => {
    const chain = startChain([1000, 1000], still)
    done(chain, account(1), 'deactivateCandidacy')
    done(chain, account(1), 'withdrawCandidacy')
    chain.advanceTo(8)
    declare(chain, 5, 1)
    expect(recordOf(chain, account(5)).pubKey).toBe(key(1))
  })

  test('a pending account update is cancelled and the count of absences is dropped', () => {
    const chain = startChain([1000, 1000], still)
    chain.block({
      absent: [key(1)],
      txs: [chain.tx(account(1), 'updateCandidacyAccount', { newCandidateAccount: bytesOf(account(9)) })],
    })
    expect(chain.store.get(absences, { candidacyId: 1 })).toEqual({ candidacyId: 1, count: 1 })
    done(chain, account(1), 'withdrawCandidacy')
    expect(chain.query('/stake/account-update/1')).toMatchObject({ status: 'CANCELLED' })
    expect(chain.store.get(absences, { candidacyId: 1 })).toBeUndefined()
    expect(failure(chain, account(9), 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })).toBe(
      '21 Bad request',
    )
  })
})

describe('deactivate and activate', () => {
  test('they turn active off and on, change nothing else, and cost 21,000 gas each', () => {
    const chain = startChain([1000, 1000], { params: { ...still.params, gas_price: 1 } })
    const [before, other] = [recordOf(chain, account(1)), recordOf(chain, account(2))]
    const off = done(chain, account(1), 'deactivateCandidacy')
    expect(recordOf(chain, account(1))).toEqual({ ...before, active: false, updatedAt: chain.time })
    const on = done(chain, account(1), 'activateCandidacy')
    expect(recordOf(chain, account(1))).toEqual({ ...before, updatedAt: chain.time })
    expect(recordOf(chain, account(2))).toEqual(other)
    expect([off.gasUsed, on.gasUsed, balanceOf(chain, account(1))]).toEqual([21_000, 21_000, tokens(100_000) - 42_000n])
    expect([...eventsOf(off), ...eventsOf(on)]).toEqual(
      ['deactivate', 'activate'].map(
        (name) => `svc.stake.${name} sender=${account(1).address} owner=${account(1).address} pub_key=${keyText(1)}`,
      ),
    )
  })

  test('who has no candidacy moves none, and every refused move says its error', () => {
    const chain = startChain([1000, 1000], still)
    expect(failure(chain, account(5), 'deactivateCandidacy')).toBe('1 cannot deactivate non-exsits candidacy')
    expect(failure(chain, account(5), 'activateCandidacy')).toBe('1 cannot activate non-exsits candidacy')
    expect(failure(chain, account(5), 'withdrawCandidacy')).toBe('1 cannot withdraw non-exsits candidacy')
    const newCandidateAccount = bytesOf(account(6))
    expect(failure(chain, account(5), 'updateCandidacyAccount', { newCandidateAccount })).toBe('21 Bad request')
    expect(failure(chain, account(1), 'activateCandidacy')).toBe('1 already activated')
    done(chain, account(1), 'deactivateCandidacy')
    expect(failure(chain, account(1), 'deactivateCandidacy')).toBe('1 already deactivated')
    done(chain, account(1), 'withdrawCandidacy')
    expect(failure(chain, account(1), 'deactivateCandidacy')).toBe('1 cannot deactivate non-exsits candidacy')
    expect(failure(chain, account(1), 'withdrawCandidacy')).toBe('1 cannot withdraw non-exsits candidacy')
  })

  test('updatedAt is the block time of the operation, while createdAt stays', () => {
    const chain = startChain([1000, 1000], still)
    chain.block({ seconds: 100, txs: [chain.tx(account(1), 'deactivateCandidacy', {})] })
    const { createdAt, updatedAt } = recordOf(chain, account(1))
    expect([updatedAt, updatedAt - createdAt]).toEqual([chain.time, 101])
  })
})

describe('activate after withdraw', () => {
  test('what still unbonds comes back as shares, all of it, and nothing else is taken while it covers the self-stake', () => {
    const candidacies = [
      { owner: account(1), key: nodeKey(1), shares: tokens(1000) },
      { owner: account(2), key: nodeKey(2), shares: tokens(2500), maxShares: tokens(5000) },
    ]
    const chain = startChain([], { ...still, candidacies })
    const before = recordOf(chain, account(2))
    done(chain, account(2), 'withdrawCandidacy')
    done(chain, account(2), 'activateCandidacy')
    expect(recordOf(chain, account(2))).toEqual({ ...before, updatedAt: chain.time })
    expect([unbonding(chain, 2), balanceOf(chain, account(2))]).toEqual([[], tokens(100_000)])
  })

  test('after the payout the balance tops up to the self-stake of the ratio in force', () => {
    const chain = startChain([1000, 2500], still)
    done(chain, account(2), 'withdrawCandidacy')
    chain.advanceTo(7)
    done(chain, account(2), 'activateCandidacy')
    // 25,000 tokens of max_shares at a ratio of 0.1.
    expect([recordOf(chain, account(2)).shares, balanceOf(chain, account(2))]).toEqual([tokens(2500), tokens(100_000)])
    expect(unbonding(chain, 2)).toEqual([])
  })

  test('the pending part counts first and the balance gives only the difference', () => {
    const genesis = {
      ...still,
      accounts: [{ address: account(2).address, balance: tokens(50) }],
      candidacies: [
        { owner: account(1), key: nodeKey(1), shares: tokens(5) },
        { owner: account(2), key: nodeKey(2), shares: tokens(50), maxShares: tokens(1000) },
      ],
    }
    const chain = startChain([], genesis)
    done(chain, account(2), 'withdrawCandidacy')
    done(chain, account(2), 'activateCandidacy')
    expect([recordOf(chain, account(2)).shares, balanceOf(chain, account(2))]).toEqual([tokens(100), 0n])
  })

  test('pending and balance one unit below the self-stake are refused', () => {
    const genesis = {
      ...still,
      accounts: [{ address: account(2).address, balance: tokens(50) - 1n }],
      candidacies: [
        { owner: account(1), key: nodeKey(1), shares: tokens(5) },
        { owner: account(2), key: nodeKey(2), shares: tokens(50), maxShares: tokens(1000) },
      ],
    }
    const chain = startChain([], genesis)
    done(chain, account(2), 'withdrawCandidacy')
    expect(failure(chain, account(2), 'activateCandidacy')).toBe('20 Insufficient bond shares')
    expect(lacking(chain, account(2), 'activateCandidacy')).toBe(
      `${account(2).address} needs ${tokens(50)} (fee 0), has ${tokens(50) - 1n}`,
    )
  })

  test('shares below 1 token are refused, though they would be the self-stake', () => {
    const chain = startChain([], {
      ...still,
      candidacies: [
        { owner: account(1), key: nodeKey(1), shares: tokens(5) },
        { owner: account(2), key: nodeKey(2), shares: tokens(1), maxShares: tokens(1) },
      ],
    })
    done(chain, account(2), 'withdrawCandidacy')
    chain.advanceTo(7)
    expect(failure(chain, account(2), 'activateCandidacy')).toBe('20 Insufficient bond shares')
    expect(lacking(chain, account(2), 'activateCandidacy')).toBeUndefined()
  })

  test('a pubKey that another took is named before the shares, and an own new declare replaced the record', () => {
    const chain = startChain([1000, 1000], still)
    done(chain, account(1), 'withdrawCandidacy')
    chain.advanceTo(8)
    declare(chain, 5, 1)
    expect(failure(chain, account(1), 'activateCandidacy')).toBe('1 pubkey has been declared')
    done(chain, account(5), 'withdrawCandidacy')
    // Held back, for the node of account 5 may sign with it, until its row in validator_keys is dropped.
    expect(failure(chain, account(1), 'activateCandidacy')).toBe('1 pubkey has been declared')
    chain.advanceTo(20)
    done(chain, account(1), 'activateCandidacy')
    expect(failure(chain, account(5), 'activateCandidacy')).toBe('1 pubkey has been declared')
  })

  test('entries of an earlier candidacy of the address stay where they are', () => {
    const chain = startChain([1000, 1000], { ...still, params: { ...still.params, unstake_wait_period: 50 } })
    done(chain, account(1), 'withdrawCandidacy')
    declare(chain, 1)
    done(chain, account(1), 'withdrawCandidacy')
    done(chain, account(1), 'activateCandidacy')
    expect(unbonding(chain, 1)).toMatchObject([{ amount: String(tokens(1000)), completion_height: 52 }])
    expect(recordOf(chain, account(1)).shares).toBe(tokens(1000))
  })
})
