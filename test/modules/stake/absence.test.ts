import { describe, expect, test } from '@jest/globals'
import { absences } from '../../../src/modules/stake/tables.ts'
import { account, nodeKey, type TestChain } from '../../support/testChain.ts'
import { done, eventsOf, indexOf, key, keyText, recordOf, startChain, updatesOf } from '../support.ts'

const params = { inflation_rate: 0, gas_price: 0, stake_limit: '1' }
const start = (shares: readonly number[], max = 3) => startChain(shares, { params, stake: { max_absent_blocks: max } })
const missed = (chain: TestChain, id: number): number => chain.store.get(absences, { candidacyId: id })?.count ?? 0
const miss = (chain: TestChain, blocks: number, ...numbers: number[]) => {
  for (let at = 1; at < blocks; at++) chain.block({ absent: numbers.map(key) })
  return chain.block({ absent: numbers.map(key) }).response
}

describe('absence', () => {
  test('the last allowed miss changes nothing; the next one removes', () => {
    const chain = start([1000, 500])
    miss(chain, 2, 1)
    expect([missed(chain, 1), recordOf(chain, account(1)).active]).toEqual([2, true])
    const response = miss(chain, 1, 1)
    expect(eventsOf(response)).toEqual([
      `svc.stake.removed owner=${account(1).address} reason=absence`,
      'svc.stake.validator_set changed=1',
      `svc.stake.left owner=${account(1).address} pub_key=${keyText(1)}`,
    ])
    expect(indexOf(response)).toEqual([`svc.block validator=${account(1).address}`])
    expect(updatesOf(response)).toEqual([[key(1), 0]])
    expect(recordOf(chain, account(1))).toMatchObject({
      active: false,
      shares: 1000n * 10n ** 18n,
      updatedAt: chain.time,
    })
    expect(missed(chain, 1)).toBe(0)
  })

  test('the first miss in a row and the first signature after it are events, and nothing in between is', () => {
    const chain = start([1000, 500], 9)
    const told = [1, 1, 1, 2, 1].map((number) => eventsOf(miss(chain, 1, number)))
    const [first, second] = [account(1).address, account(2).address]
    expect(told).toEqual([
      [`svc.stake.absent owner=${first}`],
      [],
      [],
      [`svc.stake.present owner=${first} missed=3`, `svc.stake.absent owner=${second}`],
      [`svc.stake.present owner=${second} missed=1`, `svc.stake.absent owner=${first}`],
    ])
  })

  test('without a genesis value it takes 120', () => {
    const chain = startChain([1000, 500], { params })
    miss(chain, 119, 1)
    expect(recordOf(chain, account(1)).active).toBe(true)
    miss(chain, 1, 1)
    expect(recordOf(chain, account(1)).active).toBe(false)
  })

  test('one signature sets the count to 0', () => {
    const chain = start([1000, 500])
    miss(chain, 2, 1)
    chain.block()
    expect(missed(chain, 1)).toBe(0)
    miss(chain, 2, 1)
    expect(recordOf(chain, account(1)).active).toBe(true)
  })

  test('of two that are due in one block the last in rank goes first, and the only eligible one stays and goes on counting', () => {
    const chain = start([500, 1000])
    expect(eventsOf(miss(chain, 3, 1, 2)).filter((event) => event.startsWith('svc.stake.removed'))).toEqual([
      `svc.stake.removed owner=${account(1).address} reason=absence`,
    ])
    expect([recordOf(chain, account(2)).active, missed(chain, 2)]).toEqual([true, 3])
    miss(chain, 2, 2)
    expect([recordOf(chain, account(2)).active, missed(chain, 2)]).toEqual([true, 5])
    done(chain, account(1), 'activateCandidacy')
    expect([recordOf(chain, account(1)).active, missed(chain, 2)]).toEqual([true, 0])
  })

  test('of three that are due the first in rank stays', () => {
    const chain = start([500, 1000, 700])
    expect(eventsOf(miss(chain, 3, 1, 2, 3)).filter((event) => event.startsWith('svc.stake.removed'))).toEqual(
      [1, 3].map((at) => `svc.stake.removed owner=${account(at).address} reason=absence`),
    )
  })

  test('deactivate and activate do not change the count, and nothing is counted while inactive', () => {
    const chain = start([1000, 500], 10)
    miss(chain, 2, 1)
    chain.block({ absent: [key(1)], txs: [chain.tx(account(1), 'deactivateCandidacy', {})] })
    expect(missed(chain, 1)).toBe(2)
    miss(chain, 1, 1)
    expect(missed(chain, 1)).toBe(2)
    chain.block({ absent: [key(1)], txs: [chain.tx(account(1), 'activateCandidacy', {})] })
    expect(missed(chain, 1)).toBe(3)
  })

  test('it is counted per candidacy, whatever key it signs with', () => {
    const chain = start([1000, 500], 10)
    chain.block({ absent: [key(1)], txs: [chain.tx(account(1), 'updateCandidacy', { pubKey: nodeKey(9) })] })
    miss(chain, 2, 1)
    miss(chain, 2, 9)
    expect(missed(chain, 1)).toBe(5)
    chain.block()
    expect(missed(chain, 1)).toBe(0)
  })
})
