import { describe, expect, test } from '@jest/globals'
import { AMOUNT_MAX } from '../../../src/base/amount.ts'
import { getTotals } from '../../../src/modules/chain/keeper.ts'
import { account, evidence, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, bytesOf, done, eventsOf, failure, recordOf, startChain } from '../support.ts'
import { batchesOf, delegate, delegation, QUIET, start, withdraw, withdrawal, worthIn } from './support.ts'

const [owner, other, thief, victim] = [account(1), account(2), account(3), account(4)]

/** Blocks of 10 seconds, in which awards are large. */
function awards(chain: TestChain, count: number): void {
  for (let at = 0; at < count; at++) chain.block({ seconds: 10 })
}

describe('rounding', () => {
  test('one base unit at a time never pays more than the units were worth, and the others gain the rest', () => {
    const chain = start([1000, 500], { params: { inflation_rate: 100 } })
    delegate(chain, thief, owner, tokens(10))
    delegate(chain, victim, owner, tokens(10))
    awards(chain, 20)
    // No award in between: what a delegation is worth changes by withdrawals alone.
    const [before, others] = [worthIn(chain, thief, owner), worthIn(chain, victim, owner)]
    const pay = Array.from({ length: 50 }, (_, at) => chain.tx(thief, 'withdraw', withdrawal(owner, 1n), 1 + at))
    expect(chain.block({ txs: pay, seconds: 0 }).results.every(({ code = 0 }) => code === 0)).toBe(true)
    const after = worthIn(chain, thief, owner)
    expect(batchesOf(chain).map(({ amount }) => amount)).toEqual([50n])
    expect(before - after).toBeGreaterThanOrEqual(50n)
    expect(before - after).toBeLessThanOrEqual(150n)
    expect(worthIn(chain, victim, owner)).toBeGreaterThanOrEqual(others)
  })

  test('all of a delegation, and one base unit more', () => {
    const chain = start()
    delegate(chain, thief, owner, tokens(5) + 7n)
    expect(failure(chain, thief, 'withdraw', withdrawal(owner, tokens(5) + 8n))).toBe('21 Invalid withdrawal amount')
    withdraw(chain, thief, owner, tokens(5) + 7n)
    expect(recordOf(chain, owner)).toMatchObject({ delegated: 0n, delegationUnits: 0n, delegators: 0, pool: 0 })
  })

  test('10^36 is refused: there is neither so much room nor so much to take', () => {
    const chain = start()
    expect(failure(chain, thief, 'delegate', delegation(owner, AMOUNT_MAX))).toBe(
      '21 Validator has reached its max amount',
    )
    delegate(chain, thief, owner, tokens(1))
    expect(failure(chain, thief, 'withdraw', withdrawal(owner, AMOUNT_MAX))).toBe('21 Invalid withdrawal amount')
    done(chain, owner, 'updateCandidacy', { maxAmount: String(tokens(10_000)) })
  })

  test('one base unit below 1 token is no delegation, and 1 token is one', () => {
    const chain = start()
    expect(failure(chain, thief, 'delegate', delegation(owner, tokens(1) - 1n))).toBe(
      `20 Invalid parameter: amount: expected at least 1 token (${tokens(1)}), got ${tokens(1) - 1n}`,
    )
    delegate(chain, thief, owner, tokens(1))
  })

  test('room is exact to the base unit', () => {
    const chain = start()
    expect(failure(chain, thief, 'delegate', delegation(owner, tokens(9000) + 1n))).toBe(
      '21 Validator has reached its max amount',
    )
    delegate(chain, thief, owner, tokens(9000))
    expect(recordOf(chain, owner)).toMatchObject({ shares: tokens(10_000), delegated: tokens(9000) })
  })

  test('a pool that a slash made nearly worthless takes delegations up to 10^36 units, and not one above', () => {
    const chain = start([1000, 500], { stake: { slash_ratio: '0.999999999999999998' } })
    delegate(chain, thief, owner, tokens(2))
    chain.block({ misbehavior: [evidence(1, chain.height)] })
    expect(recordOf(chain, owner)).toMatchObject({ delegated: 4n, delegationUnits: tokens(2) })
    // One base unit buys 5 × 10^17 units now, and there is room for 10^36 − 2 × 10^18.
    const most = tokens(2) - 4n
    expect(failure(chain, victim, 'delegate', delegation(owner, most + 1n))).toBe(
      `20 Invalid parameter: amount: expected at most ${AMOUNT_MAX} units of the validator's pool in all, got ${most + 1n}`,
    )
    delegate(chain, victim, owner, most)
    expect(recordOf(chain, owner).delegationUnits).toBe(AMOUNT_MAX)
    expect([worthIn(chain, victim, owner), worthIn(chain, thief, owner)]).toEqual([most, 4n])
  })
})

describe('a first delegator who would make a unit dear', () => {
  test('cannot leave a single unit: a withdrawal that leaves less than 1 token takes everything', () => {
    const chain = start()
    delegate(chain, thief, owner, tokens(3))
    withdraw(chain, thief, owner, tokens(2))
    expect(worthIn(chain, thief, owner)).toBe(tokens(1))
    expect(eventsOf(withdraw(chain, thief, owner, 1n))).toEqual([
      `svc.stake.undelegate sender=${thief.address} owner=${owner.address} amount=${tokens(1)}`,
    ])
    expect(recordOf(chain, owner)).toMatchObject({ delegated: 0n, delegationUnits: 0n, delegators: 0 })
    expect(batchesOf(chain).map(({ amount }) => amount)).toEqual([tokens(3)])
  })

  test('gains nothing by 200 rounds that each leave as much rounding as they can, and the next one loses one unit', () => {
    const chain = startChain([1000, 500], { params: { ...QUIET, inflation_rate: 8 } })
    delegate(chain, thief, owner, tokens(1))
    awards(chain, 2)
    for (let round = 0; round < 200; round++) {
      const { delegated: d, delegationUnits: u } = recordOf(chain, owner)
      // The least that buys all but one more unit, and the least that costs the units that may go.
      const given = tokens(1) + d / u - 1n
      const nonce = chain.nonceOf(thief)
      const kept = (tokens(1) * u) / d + 2n
      const taken = ((u + (given * u) / d - kept - 1n) * d) / u + 1n
      chain.block({
        txs: [
          chain.tx(thief, 'delegate', delegation(owner, given), nonce),
          chain.tx(thief, 'withdraw', withdrawal(owner, taken), nonce + 1),
        ],
        seconds: 0,
      })
    }
    const { delegated, delegationUnits } = recordOf(chain, owner)
    expect(delegated / delegationUnits).toBeLessThanOrEqual(1n)
    expect(delegated).toBeGreaterThanOrEqual(tokens(1))
    chain.block({ txs: [chain.tx(victim, 'delegate', delegation(owner, tokens(5)))], seconds: 0 })
    expect(tokens(5) - worthIn(chain, victim, owner)).toBeLessThanOrEqual(2n)
  })
})

describe('the block of an offence', () => {
  const slashed = (chain: TestChain): bigint => getTotals(chain.store).burned

  test('who delegates and leaves in it is slashed with the others', () => {
    const chain = start()
    const nonce = chain.nonceOf(thief)
    const offence = chain.height + 1
    chain.block({
      txs: [
        chain.tx(thief, 'delegate', delegation(owner, tokens(100)), nonce),
        chain.tx(thief, 'withdraw', withdrawal(owner), nonce + 1),
      ],
    })
    expect(batchesOf(chain)).toMatchObject([{ amount: tokens(100), units: tokens(100), closed: false }])
    chain.block()
    chain.block({ misbehavior: [evidence(1, offence)] })
    expect(batchesOf(chain)).toMatchObject([{ amount: tokens(95), units: tokens(100), closed: true }])
    expect(slashed(chain)).toBe(tokens(50 + 5))
  })

  test('who leaves in the block before it is slashed, and who left two blocks before is not, where batches are that fine', () => {
    const chain = start([1000, 500], { params: { unstake_wait_period: 20 } })
    for (const from of [thief, victim]) delegate(chain, from, owner, tokens(100))
    withdraw(chain, victim, owner)
    withdraw(chain, thief, owner)
    const offence = chain.height + 1
    chain.block()
    chain.block({ misbehavior: [evidence(1, offence)] })
    expect(batchesOf(chain).map(({ amount, closed }) => [amount, closed])).toEqual([
      [tokens(100), false],
      [tokens(95), true],
    ])
  })

  test('who leaves in the block of the evidence is slashed first, and who delegates in it is not slashed', () => {
    const chain = start()
    delegate(chain, thief, owner, tokens(100))
    chain.block({
      misbehavior: [evidence(1, chain.height)],
      txs: [
        chain.tx(thief, 'withdraw', withdrawal(owner)),
        chain.tx(victim, 'delegate', delegation(owner, tokens(100))),
      ],
    })
    expect(batchesOf(chain).map(({ amount }) => amount)).toEqual([tokens(95)])
    expect(worthIn(chain, victim, owner)).toBe(tokens(100))
  })

  test('who withdraws after a slash shares no batch with those whom it cut', () => {
    const chain = start()
    for (const from of [thief, victim]) delegate(chain, from, owner, tokens(100))
    // One batch takes what is withdrawn within two blocks: heights 5 and 6.
    chain.advanceTo(4)
    withdraw(chain, thief, owner)
    chain.block({ misbehavior: [evidence(1, 4)], txs: [chain.tx(victim, 'withdraw', withdrawal(owner))] })
    const [first, second] = batchesOf(chain)
    expect(first).toMatchObject({ number: 1, amount: tokens(95), units: tokens(100), closed: true, heightPaid: 106 })
    expect(second).toMatchObject({ number: 2, amount: tokens(95), units: tokens(95), closed: false, heightPaid: 106 })
  })
})

describe('slash_ratio 1', () => {
  const total = () => start([1000, 500], { stake: { slash_ratio: '1' } })

  test('ends the pool: its rows are worth nothing, and completelyWithdraw removes them without a payout', () => {
    const chain = total()
    delegate(chain, thief, owner, tokens(100))
    chain.block({ misbehavior: [evidence(1, chain.height)] })
    expect(recordOf(chain, owner)).toMatchObject({
      shares: 0n,
      delegated: 0n,
      delegationUnits: 0n,
      delegators: 0,
      pool: 1,
    })
    expect(chain.query(`/stake/delegator/${thief.address}`)).toMatchObject([
      { shares: '0', slash_amount: String(tokens(100)), pending: [] },
    ])
    expect(chain.query(`/stake/delegations/${owner.address}`)).toEqual([])
    expect(failure(chain, thief, 'withdraw', withdrawal(owner, 1n))).toBe('21 No delegation')
    expect(eventsOf(withdraw(chain, thief, owner))).toEqual([
      `svc.stake.undelegate sender=${thief.address} owner=${owner.address} amount=0`,
    ])
    expect(batchesOf(chain)).toEqual([])
    expect(failure(chain, thief, 'withdraw', withdrawal(owner))).toBe('21 No delegation')
  })

  test('a new pool begins one for one beside the worthless rows, and is withdrawn before them', () => {
    const chain = total()
    delegate(chain, thief, owner, tokens(100))
    chain.block({ misbehavior: [evidence(1, chain.height)] })
    delegate(chain, thief, owner, tokens(7))
    delegate(chain, victim, owner, tokens(3))
    expect(recordOf(chain, owner)).toMatchObject({ delegated: tokens(10), delegationUnits: tokens(10), delegators: 2 })
    withdraw(chain, thief, owner)
    expect(batchesOf(chain).map(({ amount }) => amount)).toEqual([tokens(7)])
    withdraw(chain, thief, owner)
    expect(failure(chain, thief, 'withdraw', withdrawal(owner))).toBe('21 No delegation')
    expect(worthIn(chain, victim, owner)).toBe(tokens(3))
  })

  test('what unbonds is paid with 0 and goes', () => {
    const chain = start([1000, 500], { stake: { slash_ratio: '1' }, params: { unstake_wait_period: 10 } })
    delegate(chain, thief, owner, tokens(100))
    withdraw(chain, thief, owner)
    const before = balanceOf(chain, thief)
    chain.block({ misbehavior: [evidence(1, chain.height)] })
    expect(batchesOf(chain)).toMatchObject([{ amount: 0n, units: tokens(100) }])
    chain.advanceTo(chain.height + 10)
    expect([batchesOf(chain), balanceOf(chain, thief)]).toEqual([[], before])
  })
})

describe('a candidacy that is withdrawn again and again', () => {
  test('makes a closing batch each time somebody has delegated, and takes no delegation once 100 wait', () => {
    const chain = start([1000, 500], { params: { unstake_wait_period: 1000 } })
    const rounds = 100
    for (let round = 0; round < rounds; round++) {
      const nonce = chain.nonceOf(owner)
      const { results } = chain.block({
        txs: [
          chain.tx(thief, 'delegate', delegation(owner, tokens(1))),
          chain.tx(owner, 'withdrawCandidacy', {}, nonce),
          chain.tx(owner, 'activateCandidacy', {}, nonce + 1),
        ],
      })
      expect(results.map(({ code = 0 }) => code)).toEqual([0, 0, 0])
    }
    expect(batchesOf(chain)).toHaveLength(rounds)
    expect(failure(chain, thief, 'delegate', delegation(owner, tokens(1)))).toBe('21 Too many unbonding batches')
    expect(recordOf(chain, owner)).toMatchObject({ shares: tokens(1000), delegated: 0n, pool: rounds })
    // Nobody can be slashed twice for it, and a slash has these 100 batches as its bound.
    chain.block({ misbehavior: [evidence(1, chain.height - 1)] })
    const cut = batchesOf(chain).filter(({ amount }) => amount < tokens(1))
    expect(cut).toHaveLength(3)
    chain.advanceTo(1000 + rounds + 2)
    expect(batchesOf(chain)).toEqual([])
    expect(balanceOf(chain, thief)).toBe(tokens(100_000) - (tokens(1) / 20n) * 3n)
  })

  test('pays delegators who did nothing, and what unbonds goes on when another record takes its place', () => {
    const chain = start([1000, 500], { params: { unstake_wait_period: 20 } })
    delegate(chain, thief, owner, tokens(100))
    done(chain, owner, 'withdrawCandidacy')
    done(chain, owner, 'declareCandidacy', { pubKey: nodeKey(9), maxAmount: String(tokens(100)) })
    expect(recordOf(chain, owner)).toMatchObject({ id: 3, pool: 0, delegators: 0 })
    expect(failure(chain, thief, 'withdraw', withdrawal(owner))).toBe('21 No delegation')
    delegate(chain, thief, owner, tokens(1))
    chain.advanceTo(24)
    expect(balanceOf(chain, thief)).toBe(tokens(100_000 - 1))
    expect(worthIn(chain, thief, owner)).toBe(tokens(1))
  })
})

describe('the commission', () => {
  const rates = (chain: TestChain, of = owner) => {
    const { compRate, nextCompRate, nextCompRateHeight } = recordOf(chain, of)
    return [compRate, nextCompRate, nextCompRateHeight]
  }
  const half = tokens(1) / 2n
  const inflating = () => start([1000, 500], { params: { inflation_rate: 8, unstake_wait_period: 10 } })

  test('raised to 1 before an award waits until whoever disagrees can have left', () => {
    const chain = inflating()
    delegate(chain, victim, owner, tokens(100))
    const raised = chain.height + 1
    done(chain, owner, 'updateCandidacy', { compRate: '1' })
    expect(rates(chain)).toEqual([half, tokens(1), raised + 10])
    let before = worthIn(chain, victim, owner)
    while (chain.height < raised + 9) {
      chain.block()
      expect(worthIn(chain, victim, owner)).toBeGreaterThan(before)
      before = worthIn(chain, victim, owner)
    }
    chain.block()
    expect(worthIn(chain, victim, owner)).toBe(before)
  })

  test('lowered and raised in one block waits as well', () => {
    const chain = inflating()
    delegate(chain, victim, owner, tokens(100))
    const nonce = chain.nonceOf(owner)
    const height = chain.height + 1
    chain.block({
      txs: ['0', '0.5', '1'].map((compRate, at) => chain.tx(owner, 'updateCandidacy', { compRate }, nonce + at)),
    })
    expect(rates(chain)).toEqual([0n, tokens(1), height + 10])
  })

  test('that waits goes on waiting through a withdrawal, an activation and a hand-over', () => {
    const chain = inflating()
    delegate(chain, victim, owner, tokens(100))
    done(chain, owner, 'updateCandidacy', { compRate: '1' })
    const waiting = rates(chain)
    done(chain, owner, 'withdrawCandidacy')
    done(chain, owner, 'activateCandidacy')
    expect(rates(chain)).toEqual(waiting)
    done(chain, owner, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(thief) })
    done(chain, thief, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })
    expect(rates(chain, thief)).toEqual(waiting)
  })
})

describe('a hand-over with delegations', () => {
  test("costs the owner's part alone, and no delegation changes", () => {
    const chain = start()
    delegate(chain, victim, owner, tokens(100))
    delegate(chain, other, owner, tokens(11))
    done(chain, owner, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(thief) })
    const [seller, buyer] = [balanceOf(chain, owner), balanceOf(chain, thief)]
    done(chain, thief, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })
    expect([balanceOf(chain, owner) - seller, buyer - balanceOf(chain, thief)]).toEqual([tokens(1000), tokens(1000)])
    expect(recordOf(chain, thief)).toMatchObject({ shares: tokens(1111), delegated: tokens(111), delegators: 2 })
    expect([worthIn(chain, victim, thief), worthIn(chain, other, thief)]).toEqual([tokens(100), tokens(11)])
    withdraw(chain, victim, thief)
    expect(failure(chain, victim, 'withdraw', withdrawal(owner))).toBe('5 Validator does not exist for that address')
  })

  test('to a delegator: it keeps its delegation, may leave and may not delegate', () => {
    const chain = start()
    delegate(chain, thief, owner, tokens(100))
    done(chain, owner, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(thief) })
    done(chain, thief, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })
    expect(failure(chain, thief, 'delegate', delegation(thief, tokens(1)))).toBe('21 Bad request')
    withdraw(chain, thief, thief, tokens(40))
    expect(worthIn(chain, thief, thief)).toBe(tokens(60))
    expect(recordOf(chain, thief).shares).toBe(tokens(1060))
  })

  test("cannot be paid with what was delegated: the buyer needs the owner's part on its balance", () => {
    const chain = start()
    delegate(chain, thief, owner, tokens(9000))
    done(chain, thief, 'transfer', { to: bytesOf(victim), value: String(balanceOf(chain, thief) - tokens(999)) })
    done(chain, owner, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(thief) })
    expect(failure(chain, thief, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })).toMatch(
      /^\d+ Insufficient/,
    )
  })
})
