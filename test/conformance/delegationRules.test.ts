import { describe, expect, test } from '@jest/globals'
import { ONE, TOKEN } from '../../src/base/amount.ts'
import { batches } from '../../src/modules/delegation/tables.ts'
import { time } from '../../src/values/time.ts'
import { balanceOf, eventsOf, keyText, recordOf } from '../modules/support.ts'
import { evidence, account, type TestChain, tokens } from '../support/testChain.ts'
import { amountOf, chainWith, delegator, poolPart, sharesOf, stakeTokens, validator } from './delegation.ts'
import { conformanceChain, perform, succeed } from './support.ts'

type Json = Readonly<Record<string, unknown>>
const validatorAddress = validator.address
const other = account(6)
const STILL = { inflation_rate: 0 }
const PERIOD = 128

const stakeOf = (chain: TestChain): Json => chain.query(`/stake/stake/${validatorAddress}`) as Json
const delegationsOf = (chain: TestChain, of = delegator): readonly Json[] =>
  chain.query(`/stake/delegator/${of.address}`) as readonly Json[]
const takeBack = (chain: TestChain, amount: bigint, from = delegator) =>
  succeed(chain, from, 'svc_withdraw', { validatorAddress, amount: String(amount) })

describe('operations', () => {
  test('delegate: a new pool sells units one for one, a later one floor(amount × U / D); D, U, shares and the row grow', () => {
    const chain = chainWith(2)
    const before = recordOf(chain, validator)
    expect([sharesOf(chain, delegator).units, before.delegationUnits]).toEqual([tokens(2), tokens(2)])
    expect(before.delegated).toBeGreaterThan(tokens(2))
    chain.block()
    const { delegated, delegationUnits, shares, updatedAt } = recordOf(chain, validator)
    stakeTokens(chain, 3, other)
    const after = recordOf(chain, validator)
    const bought = (tokens(3) * delegationUnits) / delegated
    expect([sharesOf(chain, other).units, after.delegationUnits]).toEqual([bought, delegationUnits + bought])
    expect(after.shares - shares).toBeGreaterThanOrEqual(tokens(3))
    expect([after.delegators, after.updatedAt]).toEqual([2, updatedAt])
    expect(delegationsOf(chain, other)).toMatchObject([{ delegate_amount: amountOf(3) }])
    stakeTokens(chain, 1, other)
    expect(delegationsOf(chain, other)).toMatchObject([{ delegate_amount: amountOf(4) }])
    expect(recordOf(chain, validator).delegators).toBe(2)
  })

  test('withdraw: an amount takes ceil(p × U / D) units, D, U, shares and the row fall, and p joins a batch', () => {
    const chain = chainWith(3)
    chain.block({ misbehavior: [evidence(3, 2)] }) // Units are no longer one for one, and no award moves them.
    const { delegated, delegationUnits, shares } = recordOf(chain, validator)
    const [amount, { units }] = [TOKEN + 1n, sharesOf(chain, delegator)]
    takeBack(chain, amount) // Of 2.85 tokens: what stays is at least 1.
    const sold = (amount * delegationUnits + delegated - 1n) / delegated
    expect(recordOf(chain, validator)).toMatchObject({
      delegated: delegated - amount,
      delegationUnits: delegationUnits - sold,
      shares: shares - amount,
    })
    expect(sharesOf(chain, delegator).units).toBe(units - sold)
    expect(delegationsOf(chain)).toMatchObject([
      { withdraw_amount: String(amount), pending: [{ amount: String(amount) }] },
    ])
    expect(stakeOf(chain)).toMatchObject({ pending: String(amount) })
  })

  test('withdraw: all units go where the amount takes all of them, or with completelyWithdraw Y, and so does the row', () => {
    for (const members of [{ amount: amountOf(2) }, { completelyWithdraw: 'Y' }]) {
      const chain = chainWith(2, STILL)
      succeed(chain, delegator, 'svc_withdraw', { validatorAddress, ...members })
      expect(chain.query(`/stake/delegations/${validatorAddress}`)).toEqual([])
      expect(recordOf(chain, validator)).toMatchObject({ delegated: 0n, delegationUnits: 0n, delegators: 0, pool: 0 })
      expect(delegationsOf(chain)).toMatchObject([{ shares: '0', pending: [{ amount: amountOf(2) }] }])
    }
  })

  test('inactive and unverified candidacies take delegations, and give them back', () => {
    const chain = conformanceChain(STILL)
    succeed(chain, validator, 'svc_deactivateCandidacy')
    stakeTokens(chain, 2)
    takeBack(chain, 1n)
    expect(recordOf(chain, validator)).toMatchObject({ active: false, delegated: tokens(2) - 1n })
  })

  test('both take 63,000 gas, need a balance for it, and are events of the sender and of the owner', () => {
    const chain = conformanceChain(STILL)
    const poor = account(7)
    const left = 63_000n * 2_000_000_000n + TOKEN - 1n
    succeed(chain, poor, 'svc_transfer', {
      to: other.address,
      value: String(balanceOf(chain, poor) - left - 21_000n * 2_000_000_000n),
    })
    expect(perform(chain, poor, 'svc_delegate', { validatorAddress, amount: amountOf(1) })).toMatchObject({
      code: 20,
      log: 'Insufficient balance',
    })
    for (const [operation, event] of [
      ['delegate', 'delegate'],
      ['withdraw', 'undelegate'],
    ] as const) {
      const result = chain.deliver(delegator, operation, {
        validatorAddress: Buffer.from(validatorAddress.slice(2), 'hex'),
        amount: amountOf(2),
      })
      expect([Number(result.gasUsed), eventsOf(result)]).toEqual([
        63_000,
        [`svc.stake.${event} sender=${delegator.address} owner=${validatorAddress} amount=${amountOf(2)}`],
      ])
    }
  })
})

describe('awards, slashes, the end', () => {
  test("Award: the pool gets floor(A × D × (1 − comp_rate) / shares), even above max_shares; without room the owner's is paid out", () => {
    const chain = chainWith(1000)
    const { shares: maxAmount } = recordOf(chain, validator)
    succeed(chain, validator, 'svc_updateCandidacy', { compRate: '0.25', maxAmount: String(maxAmount) })
    const before = recordOf(chain, validator)
    const balance = balanceOf(chain, validator)
    chain.block()
    const after = recordOf(chain, validator)
    const toPool = after.delegated - before.delegated
    const award = toPool + balanceOf(chain, validator) - balance
    expect(toPool).toBe(poolPart(award, before.delegated, before.shares, ONE / 4n))
    expect(toPool).toBeGreaterThan(0n)
    expect([after.shares - before.shares, after.shares > after.maxShares]).toEqual([toPool, true])
    expect(stakeOf(chain)).toMatchObject({ room: '0', self_shares: String(before.shares - before.delegated) })
  })

  test("Slash: the owner's part, the pool and each waiting batch lose floor(x × slash_ratio) of their own, and the batch is closed", () => {
    const chain = chainWith(3, STILL)
    takeBack(chain, TOKEN + 7n)
    const { shares, delegated } = recordOf(chain, validator)
    chain.block({ misbehavior: [evidence(3, chain.height - 1)] })
    const cut = (x: bigint): bigint => x - x / 20n
    expect(recordOf(chain, validator)).toMatchObject({
      delegated: cut(delegated),
      shares: cut(shares - delegated) + cut(delegated),
      delegationUnits: delegated,
      active: false,
    })
    expect([...chain.store.scan(batches)]).toMatchObject([{ amount: cut(TOKEN + 7n), units: TOKEN + 7n, closed: true }])
    expect(delegationsOf(chain)).toMatchObject([
      { slash_amount: String(delegated - cut(delegated)), award_amount: '0', shares: String(cut(delegated)) },
    ])
    // What is taken back now shares no slash of before.
    takeBack(chain, 5n)
    expect([...chain.store.scan(batches)].map(({ amount }) => amount)).toEqual([cut(TOKEN + 7n), 5n])
  })

  test("withdraw of the candidacy: an entry of the owner's part, a closing batch of the pool; activate takes back the entry", () => {
    const chain = chainWith(3, { ...STILL, unstake_wait_period: PERIOD })
    stakeTokens(chain, 2, other)
    const { height } = succeed(chain, validator, 'svc_withdrawCandidacy')
    expect(recordOf(chain, validator)).toMatchObject({
      shares: 0n,
      delegated: 0n,
      delegationUnits: 0n,
      delegators: 0,
      pool: 1,
    })
    expect(chain.query(`/stake/unbonding/${validatorAddress}`)).toMatchObject([{ amount: amountOf(15_000) }])
    const pending = [{ amount: amountOf(3), completion_height: height + PERIOD }]
    expect(delegationsOf(chain)).toEqual([
      {
        delegator_address: delegator.address,
        validator_address: validatorAddress,
        pub_key: { type: 'tendermint/PubKeyEd25519', value: keyText(3) },
        delegate_amount: '0',
        award_amount: '0',
        withdraw_amount: '0',
        slash_amount: '0',
        shares: '0',
        created_at: null,
        updated_at: null,
        pending,
      },
    ])
    succeed(chain, validator, 'svc_activateCandidacy')
    expect(recordOf(chain, validator)).toMatchObject({ shares: tokens(15_000), delegated: 0n })
    const before = [delegator, other].map((one) => balanceOf(chain, one))
    chain.advanceTo(height + PERIOD)
    expect([delegator, other].map((one, at) => balanceOf(chain, one) - (before[at] ?? 0n))).toEqual([
      tokens(3),
      tokens(2),
    ])
    expect([delegationsOf(chain), [...chain.store.scan(batches)]]).toEqual([[], []])
  })

  test('a declare that replaces the record leaves what unbonds of the old one: its validator_address and pub_key are null', () => {
    const chain = chainWith(3, { ...STILL, unstake_wait_period: PERIOD })
    const { height } = succeed(chain, validator, 'svc_withdrawCandidacy')
    succeed(chain, validator, 'svc_declareCandidacy', { pubKey: keyText(3) })
    expect(delegationsOf(chain)).toMatchObject([
      {
        validator_address: null,
        pub_key: null,
        pending: [{ amount: amountOf(3), completion_height: height + PERIOD }],
      },
    ])
    const before = balanceOf(chain, delegator)
    chain.advanceTo(height + PERIOD)
    expect(balanceOf(chain, delegator) - before).toBe(tokens(3))
  })

  test('comp_rate: a raise waits for unstake_wait_period where there are delegations, and takes the place of one that waits', () => {
    const chain = conformanceChain({ ...STILL, unstake_wait_period: PERIOD })
    const set = (compRate: string): number => succeed(chain, validator, 'svc_updateCandidacy', { compRate }).height
    set('0.6')
    expect(stakeOf(chain)).toMatchObject({ comp_rate: '0.6', next_comp_rate: null, next_comp_rate_height: null })
    stakeTokens(chain, 1)
    set('0.8')
    const last = set('0.7')
    expect(stakeOf(chain)).toMatchObject({
      comp_rate: '0.6',
      next_comp_rate: '0.7',
      next_comp_rate_height: last + PERIOD,
    })
    chain.advanceTo(last + PERIOD - 1)
    expect(stakeOf(chain)).toMatchObject({ comp_rate: '0.6', next_comp_rate: '0.7' })
    chain.block()
    expect(stakeOf(chain)).toMatchObject({ comp_rate: '0.7', next_comp_rate: null, next_comp_rate_height: null })
  })

  test('comp_rate: one that does not rise is in force at once and drops a raise that waits', () => {
    const chain = chainWith(1, STILL)
    for (const [next, lower] of [
      ['0.9', '0.5'],
      ['0.9', '0.2'],
    ] as const) {
      succeed(chain, validator, 'svc_updateCandidacy', { compRate: next })
      expect(stakeOf(chain)).toMatchObject({ comp_rate: '0.5', next_comp_rate: next })
      succeed(chain, validator, 'svc_updateCandidacy', { compRate: lower })
      expect(stakeOf(chain)).toMatchObject({ comp_rate: lower, next_comp_rate: null })
    }
  })
})

describe('queries', () => {
  test('svc_queryDelegator: a list by candidacy id; height is ignored', () => {
    const chain = chainWith(3, STILL)
    succeed(chain, delegator, 'svc_delegate', { validatorAddress: account(1).address, amount: amountOf(1) })
    const entries = delegationsOf(chain)
    expect(entries.map((entry) => entry['validator_address'])).toEqual([account(1).address, validatorAddress])
    expect(entries[1]).toEqual({
      delegator_address: delegator.address,
      validator_address: validatorAddress,
      pub_key: { type: 'tendermint/PubKeyEd25519', value: keyText(3) },
      delegate_amount: amountOf(3),
      award_amount: '0',
      withdraw_amount: '0',
      slash_amount: '0',
      shares: amountOf(3),
      created_at: time.toJson(chain.time - 1),
      updated_at: time.toJson(chain.time - 1),
      pending: [],
    })
    expect(delegationsOf(chain, account(8))).toEqual([])
  })

  test('svc_queryDelegations: the pool by delegator, in pages', () => {
    const chain = chainWith(3, STILL)
    stakeTokens(chain, 2, other)
    const rows = [delegator, other]
      .map(({ address }) => address)
      .sort()
      .map((address) => {
        const amount = amountOf(address === delegator.address ? 3 : 2)
        return { delegator_address: address, shares: amount, units: amount }
      })
    const path = `/stake/delegations/${validatorAddress}`
    expect(chain.query(path)).toEqual(rows)
    expect(chain.query(`${path}?limit=1&offset=1`)).toEqual(rows.slice(1))
    expect(chain.query(`/stake/delegations/${other.address}`)).toEqual([])
  })

  test('svc_queryStake: whose the shares are, the room and the commission; null without a record', () => {
    const chain = chainWith(3, STILL)
    takeBack(chain, TOKEN)
    expect(stakeOf(chain)).toEqual({
      self_shares: amountOf(15_000),
      delegated_shares: amountOf(2),
      delegators: 1,
      room: amountOf(150_000 - 15_002),
      comp_rate: '0.5',
      next_comp_rate: null,
      next_comp_rate_height: null,
      pending: amountOf(1),
    })
    expect(chain.query(`/stake/stake/${other.address}`)).toBeNull()
  })
})
