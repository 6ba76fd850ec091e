import { describe, expect, test } from '@jest/globals'
import { getChain, getTotals } from '../../src/modules/chain/keeper.ts'
import { absences } from '../../src/modules/stake/tables.ts'
import { account, evidence, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { bytesOf, eventsOf, indexOf, key, keyText, startChain } from '../modules/support.ts'

const params = { inflation_rate: 0, gas_price: 0, stake_limit: '1', unstake_wait_period: 2 }

describe('a block', () => {
  test('tells its events in the order of its steps: evidence, absence, payouts, the set', () => {
    const chain = startChain([1000, 500, 400, 300], {
      params: { ...params, max_vals: 10 },
      stake: { max_absent_blocks: 3 },
    })
    chain.block({ absent: [key(2)], txs: [chain.tx(account(3), 'withdrawCandidacy', {})] })
    chain.block({ absent: [key(2)] })
    expect(eventsOf(chain.block({ absent: [key(2)], misbehavior: [evidence(4, 3)] }).response)).toEqual([
      `svc.stake.removed owner=${account(4).address} reason=misbehaviour`,
      `svc.stake.removed owner=${account(2).address} reason=absence`,
      `svc.stake.unbonded owner=${account(3).address} amount=${tokens(400)}`,
      'svc.stake.validator_set changed=2',
      `svc.stake.left owner=${account(2).address} pub_key=${keyText(2)}`,
      `svc.stake.left owner=${account(4).address} pub_key=${keyText(4)}`,
    ])
  })

  test('a transaction is found by everyone that it concerns, also when it fails, but not when its nonce is wrong', () => {
    const chain = startChain([1000], { params })
    const [one, five, six, seven] = [account(1), account(5), account(6), account(7)]
    const foundBy = (from: typeof one, operation: string, message: Readonly<Record<string, unknown>>) =>
      indexOf(chain.deliver(from, operation, message)).map((text) => text.replace('svc.tx ', ''))
    expect(foundBy(five, 'transfer', { to: bytesOf(six), value: '1' })).toEqual([
      `account=${five.address}`,
      `account=${six.address}`,
    ])
    expect(foundBy(five, 'transfer', { to: bytesOf(six), value: '0' })).toEqual([`account=${five.address}`])
    expect(foundBy(one, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(seven) })).toEqual([
      `account=${one.address} validator=${one.address}`,
      `account=${seven.address}`,
    ])
    expect(foundBy(seven, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })).toEqual([
      `account=${seven.address} validator=${seven.address}`,
      `account=${one.address} validator=${one.address}`,
    ])
    const payment = { transferFrom: bytesOf(seven), transferTo: bytesOf(six), amount: '1' }
    expect(foundBy(seven, 'proposeTransferFund', payment)).toEqual([
      `account=${seven.address} validator=${seven.address}`,
      `account=${six.address}`,
    ])
    const wrong = chain.tx(five, 'transfer', { to: bytesOf(six), value: '1' }, 9)
    expect(chain.block({ txs: [wrong] }).results[0]).toMatchObject({ code: 6, events: [] })
  })

  test('one that does not follow the head is refused, at the initial height too', () => {
    const chain = new TestChain({ initialHeight: 5 })
    chain.init({ accounts: [], candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }] })
    chain.height = 0
    expect(() => chain.finalize()).toThrow('block 1 does not follow the head: expected 5')
    chain.height = 4
    chain.block()
    chain.height = 6
    expect(() => chain.finalize()).toThrow('block 7 does not follow the head: expected 6')
    expect(() => chain.app.commit({})).toThrow('Commit came without a block before it')
  })

  test('its time is cut to whole ms, and rows hold whole seconds', () => {
    const chain = startChain([1000])
    const { txResults } = chain.app.finalizeBlock({
      ...chain.next({ txs: [chain.tx(account(1), 'updateCandidacy', {})] }),
      decidedLastCommit: chain.lastCommit(),
      time: { seconds: chain.time + 3, nanos: 999_999_999 },
    }) as { txResults: { code: number }[] }
    chain.app.commit({})
    expect(txResults[0]?.code).toBe(0)
    expect(getChain(chain.store).lastTimeMs).toBe((chain.time + 3) * 1000 + 999)
    expect(chain.abciQuery(`/stake/validator/${account(1).address}`).code).toBe(0)
    const shown = chain.query(`/stake/validator/${account(1).address}`) as { updated_at: string; created_at: string }
    expect([shown.created_at, shown.updated_at]).toEqual(['2023-11-14T22:13:20Z', '2023-11-14T22:13:24Z'])
  })

  test.each([
    [1, 1, false],
    [2, 0, true],
    [3, 0, true],
  ])('a vote of flag %d in the last commit leaves %d misses and is paid: %s', (blockIdFlag, missed, paid) => {
    const chain = startChain([1000])
    const votes = chain.lastCommit().votes.map((vote) => ({ ...vote, blockIdFlag }))
    chain.app.finalizeBlock({ ...chain.next(), decidedLastCommit: { round: 0, votes } })
    chain.app.commit({})
    expect([chain.store.get(absences, { candidacyId: 1 })?.count ?? 0, getTotals(chain.store).minted > 0n]).toEqual([
      missed,
      paid,
    ])
  })
})
