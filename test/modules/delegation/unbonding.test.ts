import { describe, expect, test } from '@jest/globals'
import { CLAIMS_PAID_MAX } from '../../../src/modules/delegation/keeper.ts'
import { delegations } from '../../../src/modules/delegation/tables.ts'
import { tables } from '../../../src/modules/registry.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Address } from '../../../src/values/address.ts'
import { account, evidence, TestChain, tokens } from '../../support/testChain.ts'
import { openMemoryStore } from '../../support/memoryStore.ts'
import { balanceOf, changeParam, done, keyText, recordOf } from '../support.ts'
import {
  batchesOf,
  claimCount,
  delegate,
  delegation,
  payoutsIn,
  QUIET,
  start,
  withdraw,
  withdrawal,
} from './support.ts'

const [owner, other] = [account(1), account(2)]
const holder = (at: number): Address => `0x${(at + 1).toString(16).padStart(40, '0')}` as Address

/** A chain after its first block whose validator 1 has so many delegations of 1 token, and validator 2 none. */
function crowd(count: number, params: Readonly<Record<string, unknown>> = {}, store?: Store): TestChain {
  const chain = new TestChain(store === undefined ? {} : { store })
  chain.init({
    params: { ...QUIET, ...params },
    accounts: [owner, other].map(({ address }) => ({ address, balance: String(tokens(1_000_000)) })),
    candidacies: [
      {
        owner: owner.address,
        pub_key: keyText(1),
        shares: String(tokens(count + 1000)),
        max_shares: String(tokens(count + 100_000)),
        delegations: Array.from({ length: count }, (_, at) => ({ delegator: holder(at), amount: String(tokens(1)) })),
      },
      { owner: other.address, pub_key: keyText(2), shares: String(tokens(10)), max_shares: String(tokens(10)) },
    ],
  })
  chain.block()
  return chain
}

describe('what is withdrawn', () => {
  test('within a 64th of the period shares a batch, which is paid a period behind its end', () => {
    const chain = start([1000], { params: { unstake_wait_period: 640 } })
    for (const at of [3, 4, 5]) delegate(chain, account(at), owner, tokens(10))
    chain.advanceTo(9)
    withdraw(chain, account(3), owner, tokens(1))
    withdraw(chain, account(4), owner)
    expect(batchesOf(chain).map(({ number, heightMade, heightPaid }) => [number, heightMade, heightPaid])).toEqual([
      [1, 10, 650],
      [2, 20, 660],
    ])
    withdraw(chain, account(3), owner)
    expect(chain.query(`/stake/delegator/${account(3).address}`)).toMatchObject([
      {
        pending: [
          { amount: String(tokens(1)), completion_height: 650 },
          { amount: String(tokens(9)), completion_height: 660 },
        ],
      },
    ])
    withdraw(chain, account(5), owner)
    expect(batchesOf(chain).map(({ amount }) => amount)).toEqual([tokens(1), tokens(10 + 9 + 10)])
    expect(claimCount(chain)).toBe(4)
  })

  test('is paid at its height, and not a block before', () => {
    const chain = start([1000], { params: { unstake_wait_period: 3 } })
    delegate(chain, account(3), owner, tokens(10))
    withdraw(chain, account(3), owner)
    const { height } = chain
    chain.advanceTo(height + 2)
    expect(balanceOf(chain, account(3))).toBe(tokens(100_000 - 10))
    expect(payoutsIn(chain.block())).toEqual([`${account(3).address} ${tokens(10)}`])
    expect([balanceOf(chain, account(3)), batchesOf(chain), claimCount(chain)]).toEqual([tokens(100_000), [], 0])
  })

  test('by one who leaves every block makes at most 66 batches, so that others can go on delegating', () => {
    const chain = start([1000], { params: { unstake_wait_period: 200 } })
    let most = 0
    for (let at = 0; at < 250; at++) {
      const nonce = chain.nonceOf(account(3))
      const { results } = chain.block({
        txs: [
          chain.tx(account(3), 'delegate', delegation(owner, tokens(1)), nonce),
          chain.tx(account(3), 'withdraw', withdrawal(owner), nonce + 1),
        ],
      })
      expect(results.map(({ code = 0 }) => code)).toEqual([0, 0])
      most = Math.max(most, batchesOf(chain).length)
    }
    expect(most).toBeLessThanOrEqual(66)
  })
})

describe('the order of payouts', () => {
  test('owners first, then by height, candidacy and number, and in a batch by delegator', () => {
    const chain = start([1000, 500], { params: { unstake_wait_period: 10 } })
    const [a, b, c] = [account(3), account(4), account(5)].sort((x, y) => (x.address < y.address ? -1 : 1)) as [
      typeof owner,
      typeof owner,
      typeof owner,
    ]
    done(chain, account(6), 'declareCandidacy', { pubKey: new Uint8Array(32).fill(7) })
    for (const validator of [owner, other]) {
      for (const from of [c, b, a]) delegate(chain, from, validator, tokens(10))
    }
    const height = chain.height + 1
    chain.block({
      txs: [
        chain.tx(c, 'withdraw', withdrawal(other), chain.nonceOf(c)),
        chain.tx(c, 'withdraw', withdrawal(owner), chain.nonceOf(c) + 1),
        chain.tx(b, 'withdraw', withdrawal(owner), chain.nonceOf(b)),
        chain.tx(a, 'withdraw', withdrawal(other), chain.nonceOf(a)),
        chain.tx(a, 'withdraw', withdrawal(owner), chain.nonceOf(a) + 1),
        chain.tx(account(6), 'withdrawCandidacy', {}),
      ],
    })
    chain.advanceTo(height + 9)
    const of = (signer: typeof owner, count: number): string => `${signer.address} ${tokens(count)}`
    expect(payoutsIn(chain.block())).toEqual([
      of(account(6), 1000),
      ...[a, b, c].map((one) => of(one, 10)),
      ...[a, c].map((one) => of(one, 10)),
    ])
  })

  test('the last claim of a batch takes what rounding left', () => {
    const chain = start([1000, 500], { stake: { slash_ratio: '0.333333333333333333' } })
    for (const at of [3, 4, 5]) delegate(chain, account(at), owner, tokens(1) + BigInt(at))
    chain.block({ txs: [3, 4, 5].map((at) => chain.tx(account(at), 'withdraw', withdrawal(owner))) })
    chain.block({ misbehavior: [evidence(1, chain.height)] })
    const [batch] = batchesOf(chain)
    const before = [3, 4, 5].map((at) => balanceOf(chain, account(at)))
    chain.advanceTo(chain.height + 110)
    const paid = [3, 4, 5].map((at, index) => balanceOf(chain, account(at)) - (before[index] as bigint))
    expect(paid.reduce((sum, one) => sum + one, 0n)).toBe(batch?.amount)
  })
})

describe('a change of unstake_wait_period while batches wait', () => {
  test.each([
    ['shorter', '1000', 1300],
    ['longer', '1300', 1000],
  ])('a %s one is for those who withdraw from then on; the others are paid as they were told', (_, value, period) => {
    const chain = start([1000, 100], { params: { unstake_wait_period: period, proposal_expire_period: 50 } })
    for (const at of [3, 4]) delegate(chain, account(at), owner, tokens(10))
    withdraw(chain, account(3), owner)
    const [first] = batchesOf(chain)
    changeParam(chain, 'unstake_wait_period', value)
    withdraw(chain, account(4), owner)
    const withdrawnAt = chain.height
    const [kept, second] = batchesOf(chain)
    expect(kept).toEqual(first)
    const step = Math.max(1, Math.ceil(Number(value) / 64))
    const made = Math.ceil(withdrawnAt / step) * step
    expect(second).toMatchObject({ number: 2, heightMade: made, heightPaid: made + Number(value) })
    const paidAt = new Map<string, number>()
    while (batchesOf(chain).length > 0)
      for (const payout of payoutsIn(chain.block())) paidAt.set(payout.split(' ')[0] as string, chain.height)
    expect(paidAt).toEqual(
      new Map(
        [
          [account(3).address, first?.heightPaid],
          [account(4).address, made + Number(value)],
        ].sort(([, a], [, b]) => Number(a) - Number(b)) as [string, number][],
      ),
    )
  })

  test('back and forth in the blocks of one batch makes no second claim that is paid twice', () => {
    const chain = start([1000, 100], { params: { unstake_wait_period: 1024, proposal_expire_period: 50 } })
    delegate(chain, account(3), owner, tokens(10))
    for (const value of ['1025', '1024', '1025']) {
      withdraw(chain, account(3), owner, tokens(1))
      changeParam(chain, 'unstake_wait_period', value)
    }
    withdraw(chain, account(3), owner)
    const waits = batchesOf(chain).reduce((sum, { amount }) => sum + amount, 0n)
    expect(waits).toBe(tokens(10))
    chain.advanceTo(chain.height + 1050)
    expect([balanceOf(chain, account(3)), batchesOf(chain), claimCount(chain)]).toEqual([tokens(100_000), [], 0])
  })
})

describe('many who leave at once', () => {
  test('the end of a candidacy with 1,000 delegations is one batch, and 256 of them are paid in a block', () => {
    const chain = crowd(1000, { unstake_wait_period: 5 })
    done(chain, owner, 'withdrawCandidacy')
    expect(batchesOf(chain)).toMatchObject([{ amount: tokens(1000), units: tokens(1000), closed: true, pool: 1 }])
    const made = chain.height
    chain.advanceTo(made + 4)
    const paid = Array.from({ length: 5 }, () => payoutsIn(chain.block()))
    // The owner's own entry is not one of them.
    expect(paid.map(({ length }) => length)).toEqual([1 + 256, 256, 256, 1000 - 3 * 256, 0])
    expect(paid.flat().slice(1)).toEqual(Array.from({ length: 1000 }, (_, at) => `${holder(at)} ${tokens(1)}`))
    expect([batchesOf(chain), chain.store.count(delegations)]).toEqual([[], 0])
  })

  test('who comes back to a candidacy whose old pool is still being paid is in the new pool alone', () => {
    const chain = crowd(300, { unstake_wait_period: 2 })
    delegate(chain, other, owner, tokens(5))
    done(chain, owner, 'withdrawCandidacy')
    done(chain, owner, 'activateCandidacy')
    delegate(chain, other, owner, tokens(3))
    const { number } = batchesOf(chain)[0] ?? {}
    expect([number, recordOf(chain, owner)]).toMatchObject([1, { delegators: 1, delegated: tokens(3), pool: 1 }])
    withdraw(chain, other, owner)
    chain.advanceTo(chain.height + 5)
    expect(batchesOf(chain)).toEqual([])
    expect(balanceOf(chain, other)).toBe(tokens(1_000_000))
  })

  test('10,000 of them: no block writes more rows than 256 payouts do, whatever waits', () => {
    const store = openMemoryStore({ tables })
    const { prepare } = store
    let rows = 0
    store.prepare = (overlay) => {
      const prepared = prepare(overlay)
      rows = prepared.changes.length
      return prepared
    }
    const chain = crowd(10_000, { unstake_wait_period: 1 }, store)
    done(chain, owner, 'withdrawCandidacy')
    const written = Array.from({ length: 41 }, () => {
      chain.block()
      return rows
    })
    // A payout writes a balance and removes a delegation; the batch and a few rows of the chain come beside them.
    expect(Math.max(...written)).toBeLessThanOrEqual(2 * CLAIMS_PAID_MAX + 8)
    expect(Math.min(...written.slice(0, 39))).toBeGreaterThanOrEqual(2 * CLAIMS_PAID_MAX)
    expect(written.at(-1)).toBeLessThan(8)
    expect([batchesOf(chain), chain.store.count(delegations)]).toEqual([[], 0])
  })
})

describe('genesis with delegations', () => {
  const one = { delegator: account(3).address, amount: String(tokens(1)) }
  const genesis = (delegations: unknown, shares = tokens(10)) => ({
    params: QUIET,
    accounts: [{ address: account(3).address, balance: String(tokens(1)) }],
    candidacies: [
      {
        owner: owner.address,
        pub_key: keyText(1),
        shares: String(shares),
        max_shares: String(tokens(100)),
        delegations,
      },
    ],
  })

  test.each<[string, unknown]>([
    ['delegations: expected an array, got {}', {}],
    ['delegations: expected an array, got "x"', 'x'],
    ['delegations[0]: expected an object, got "x"', ['x']],
    ['delegations[0].units: expected one of delegator, amount, got 1', [{ ...one, units: 1 }]],
    ['delegations[0].delegator: expected ', [{ ...one, delegator: '0x12' }]],
    ['delegations[0].delegator: expected ', [{ amount: one.amount }]],
    ['delegations[0].amount: expected ', [{ delegator: one.delegator }]],
    ['delegations[0].amount: expected ', [{ ...one, amount: '-1' }]],
    ['delegations[0].amount: expected ', [{ ...one, amount: `1${'0'.repeat(35)}1` }]],
    [
      `delegations[0].amount: expected at least 1 token (${tokens(1)}), got "${tokens(1) - 1n}"`,
      [{ ...one, amount: String(tokens(1) - 1n) }],
    ],
    [
      'delegations delegator: expected each once, got ',
      [one, { ...one, delegator: one.delegator.toUpperCase().replace('0X', '0x') }],
    ],
    [
      `delegations: expected amounts of at most the shares ${tokens(10)} in all, got "${tokens(10) + 1n}"`,
      [{ ...one, amount: String(tokens(10) + 1n) }],
    ],
  ])('is refused: %s', (message, delegations_) => {
    expect(() => new TestChain().init(genesis(delegations_))).toThrow(`genesis app_state: candidacies[0].${message}`)
  })

  test('null is none, and all of the shares may be delegated, by the owner too', () => {
    for (const none of [null, undefined, []]) {
      const chain = new TestChain()
      chain.init(genesis(none))
      chain.block()
      expect(recordOf(chain, owner)).toMatchObject({ delegated: 0n, delegationUnits: 0n, delegators: 0 })
    }
    const chain = new TestChain()
    chain.init(
      genesis([
        { ...one, amount: String(tokens(4)) },
        { delegator: owner.address, amount: String(tokens(6)) },
      ]),
    )
    chain.block()
    expect(recordOf(chain, owner)).toMatchObject({ shares: tokens(10), delegated: tokens(10), delegators: 2 })
    expect(chain.store.get(delegations, { candidacyId: 1, pool: 0, delegator: owner.address })).toMatchObject({
      units: tokens(6),
      delegateAmount: tokens(6),
      withdrawAmount: 0n,
    })
    withdraw(chain, account(3), owner)
    expect(batchesOf(chain).map(({ amount }) => amount)).toEqual([tokens(4)])
  })
})
