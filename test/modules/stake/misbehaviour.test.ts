import { describe, expect, test } from '@jest/globals'
import { getTotals } from '../../../src/modules/chain/keeper.ts'
import { misbehaviours, unbondings } from '../../../src/modules/stake/tables.ts'
import { account, evidence, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { done, eventsOf, keyText, recordOf, startChain } from '../support.ts'

const params = { inflation_rate: 0, gas_price: 0, stake_limit: '1', unstake_wait_period: 100 }
const start = (shares: readonly number[] = [1000, 500], stake = {}) => startChain(shares, { params, stake })
const burned = (chain: TestChain): bigint => getTotals(chain.store).burned
const entries = (chain: TestChain): readonly bigint[] => [...chain.store.scan(unbondings)].map(({ amount }) => amount)
const removedAt = (chain: TestChain, id: number): number | undefined =>
  chain.store.get(misbehaviours, { candidacyId: id })?.removedHeight
const punished = (chain: TestChain, ...misbehavior: ReturnType<typeof evidence>[]) =>
  chain.block({ misbehavior }).response

describe('misbehaviour', () => {
  test.each([
    [1, 'a duplicate vote'],
    [2, 'a light-client attack'],
  ])('evidence of type %d, %s, burns 5 % of the shares and removes', (type) => {
    const chain = start()
    const response = punished(chain, evidence(1, 1, type))
    expect(recordOf(chain, account(1))).toMatchObject({ shares: tokens(950), active: false, updatedAt: chain.time })
    expect([burned(chain), removedAt(chain, 1)]).toEqual([tokens(50), 2])
    expect(eventsOf(response)).toEqual([
      `svc.stake.removed owner=${account(1).address} reason=misbehaviour`,
      'svc.stake.validator_set changed=1',
      `svc.stake.left owner=${account(1).address} pub_key=${keyText(1)}`,
    ])
  })

  test('an unknown kind, an unknown key and a height before the key was in the set are ignored', () => {
    const chain = start()
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    punished(chain, evidence(1, 1, 0), evidence(77, 1), evidence(5, 3), evidence(1, 0))
    expect([burned(chain), recordOf(chain, account(1)).active, recordOf(chain, account(5)).active]).toEqual([
      0n,
      true,
      true,
    ])
  })

  test('the burn rounds down', () => {
    const chain = startChain([], {
      params,
      candidacies: [
        { owner: account(1), key: nodeKey(1), shares: tokens(1) + 19n },
        { owner: account(2), key: nodeKey(2), shares: tokens(5) },
      ],
    })
    punished(chain, evidence(1, 1))
    expect(burned(chain)).toBe((tokens(1) + 19n) / 20n)
  })

  test.each([
    ['0', 0n, tokens(1000)],
    ['1', tokens(1000), 0n],
  ])('a slash_ratio of %s burns %d', (slashRatio, cut, left) => {
    const chain = start([1000, 500], { slash_ratio: slashRatio })
    punished(chain, evidence(1, 1))
    expect([burned(chain), recordOf(chain, account(1)).shares, recordOf(chain, account(1)).active]).toEqual([
      cut,
      left,
      false,
    ])
  })

  test('further offences up to the block after the removal count as that one', () => {
    const chain = start()
    punished(chain, evidence(1, 1), evidence(1, 2))
    expect([burned(chain), removedAt(chain, 1)]).toEqual([tokens(50), 2])
    done(chain, account(1), 'activateCandidacy')
    punished(chain, evidence(1, 3))
    expect([burned(chain), recordOf(chain, account(1)).active]).toEqual([tokens(50), true])
  })

  test('an offence two blocks after the removal is another one', () => {
    const chain = start()
    // Activated in the block of the removal: the key never leaves the set.
    chain.block({ misbehavior: [evidence(1, 1)], txs: [chain.tx(account(1), 'activateCandidacy', {})] })
    chain.advanceTo(5)
    punished(chain, evidence(1, 3))
    expect([burned(chain), removedAt(chain, 1)]).toEqual([tokens(50), 2])
    punished(chain, evidence(1, 4))
    expect([burned(chain), removedAt(chain, 1)]).toEqual([tokens(50) + tokens(950) / 20n, 7])
  })

  test('activated again and in the set again, a later offence burns again', () => {
    const chain = start()
    punished(chain, evidence(1, 1))
    done(chain, account(1), 'activateCandidacy')
    chain.advanceTo(6)
    punished(chain, evidence(1, 5))
    expect([burned(chain), removedAt(chain, 1), recordOf(chain, account(1)).shares]).toEqual([
      tokens(50) + tokens(950) / 20n,
      7,
      (tokens(950) * 19n) / 20n,
    ])
  })

  test('what was withdrawn in the block before the offence burns, and the record of it is updated', () => {
    const chain = start()
    done(chain, account(1), 'withdrawCandidacy')
    chain.advanceTo(4)
    const response = punished(chain, evidence(1, 3))
    expect([entries(chain), burned(chain), removedAt(chain, 1)]).toEqual([[tokens(950)], tokens(50), 5])
    expect(recordOf(chain, account(1))).toMatchObject({ withdrawn: true, shares: 0n, updatedAt: chain.time })
    expect(eventsOf(response)).toEqual([])
  })

  test('an entry made earlier than the block before the offence does not burn', () => {
    const chain = start([1000])
    // Nobody else is eligible: the key stays in the set after its candidacy was withdrawn in block 2.
    done(chain, account(1), 'withdrawCandidacy')
    chain.advanceTo(4)
    punished(chain, evidence(1, 4))
    expect([entries(chain), burned(chain), removedAt(chain, 1)]).toEqual([[tokens(1000)], 0n, 5])
  })

  test('a candidacy whose record is gone is found by its id: its entries burn, the new one of the address does not', () => {
    const chain = start()
    done(chain, account(1), 'withdrawCandidacy')
    done(chain, account(1), 'declareCandidacy', { pubKey: nodeKey(1) })
    punished(chain, evidence(1, 2))
    expect([entries(chain), burned(chain), removedAt(chain, 1), removedAt(chain, 3)]).toEqual([
      [tokens(950)],
      tokens(50),
      4,
      undefined,
    ])
    expect(recordOf(chain, account(1))).toMatchObject({ id: 3, shares: tokens(1000), active: true })
  })

  test('evidence comes before the transactions of its block', () => {
    const chain = start()
    const { results } = chain.block({
      misbehavior: [evidence(1, 1)],
      txs: [chain.tx(account(1), 'withdrawCandidacy', {})],
    })
    expect(results[0]?.code).toBe(0)
    expect([entries(chain), burned(chain)]).toEqual([[tokens(950)], tokens(50)])
  })

  test('the payout is what was left of the entry', () => {
    const chain = startChain([1000, 500], { params: { ...params, unstake_wait_period: 4 } })
    done(chain, account(1), 'withdrawCandidacy')
    punished(chain, evidence(1, 2))
    chain.advanceTo(5)
    expect(eventsOf(chain.block().response)).toEqual([
      `svc.stake.unbonded owner=${account(1).address} amount=${tokens(950)}`,
    ])
  })
})
