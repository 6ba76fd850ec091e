import { describe, expect, test } from '@jest/globals'
import { pubKeyOf } from '../../../src/values/pubKey.ts'
import { account, nodeKey, TestChain, tokens } from '../../support/testChain.ts'
import { changeParam, done, eventsOf, key, keyText, recordOf, startChain, updatesOf } from '../support.ts'

const still = { inflation_rate: 0, gas_price: 0 }
const powers = (chain: TestChain): readonly number[] =>
  (chain.query('/stake/validators') as { voting_power: number }[]).map(({ voting_power: power }) => power)
const numberOf = (owner: string): number | undefined =>
  Array.from({ length: 30 }, (_, at) => at + 1).find((at) => account(at).address === owner)
const shown = (chain: TestChain): readonly string[] =>
  (
    chain.query('/stake/validators') as { owner_address: string; state: string; rank: number; voting_power: number }[]
  ).map((one) => `${one.rank} ${numberOf(one.owner_address)} ${one.state} ${one.voting_power}`)

describe('voting power', () => {
  test.each<[string, string, readonly number[], readonly number[]]>([
    ['alone it has all', '0.12', [1000], [1000]],
    ['two: no more than a half', '0.12', [3000, 1000], [2000, 1000]],
    ['three: no more than a third, rounded down', '0.12', [10, 1, 1], [4, 1, 1]],
    [
      'eight: an eighth is above the limit',
      '0.12',
      [7300, 100, 100, 100, 100, 100, 100, 100],
      [1000, 100, 100, 100, 100, 100, 100, 100],
    ],
    [
      'nine: the limit is above a ninth',
      '0.12',
      [2000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000],
      [1200, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000],
    ],
    [
      'ten: the limit',
      '0.12',
      [5500, 500, 500, 500, 500, 500, 500, 500, 500, 500],
      [1200, 500, 500, 500, 500, 500, 500, 500, 500, 500],
    ],
    ['limit 1 caps nothing', '1', [3000, 1000], [3000, 1000]],
    ['the smallest limit leaves an equal part', '0.000000000000000001', [3000, 1000], [2000, 1000]],
  ])('%s', (_what, stakeLimit, shares, expected) => {
    const chain = startChain(shares, { params: { ...still, stake_limit: stakeLimit, max_vals: 10 } })
    expect(powers(chain)).toEqual(expected)
    expect([...(chain.sets.get(1) ?? [])].map(([, power]) => power).sort((a, b) => b - a)).toEqual(expected)
  })

  test('a validator alone is shown as the list shows it, among more candidacies than have their ranks kept', () => {
    const chain = startChain(Array.from({ length: 300 }, (_, at) => 1 + ((at * 7) % 300)))
    const check = (): void => {
      const list = chain.query('/stake/validators') as { owner_address: string }[]
      expect(list).toHaveLength(300)
      for (const row of list) expect(chain.query(`/stake/validator/${row.owner_address}`)).toEqual(row)
    }
    check()
    done(chain, account(2), 'updateCandidacy', { maxAmount: tokens(5000).toString() })
    check()
  })

  test('it is whole tokens, rounded down, and the same cap counts outside the set', () => {
    const candidacies = [tokens(9), tokens(3) - 1n, tokens(1)].map((shares, at) => ({
      owner: account(at + 1),
      key: nodeKey(at + 1),
      shares,
    }))
    const chain = startChain([], { candidacies, params: { ...still, max_vals: 1 } })
    expect(shown(chain)).toEqual(['0 1 Validator 9', '1 2 Candidate 2', '2 3 Candidate 1'])
  })
})

describe('order and rank', () => {
  test('shares, then block_height, then pubKey bytes; those not eligible follow in the same order', () => {
    const chain = new TestChain()
    chain.init({
      accounts: [7, 8].map((at) => ({ address: account(at).address, balance: tokens(2000) })),
      params: { ...still, max_vals: 3 },
      candidacies: [
        [3, 1000],
        [2, 1000],
        [4, 2000],
        [5, 500],
        [6, 700],
      ].map(([at = 0, count = 0]) => ({ owner: account(at), key: nodeKey(at), shares: tokens(count) })),
    })
    chain.block({ txs: [chain.tx(account(8), 'declareCandidacy', { pubKey: nodeKey(1) })] })
    expect(shown(chain).map((line) => line.slice(0, 3))).toEqual(['0 4', '1 2', '2 3', '3 8', '4 6', '5 5'])
    chain.block({
      txs: [chain.tx(account(4), 'deactivateCandidacy', {}), chain.tx(account(6), 'deactivateCandidacy', {})],
    })
    expect(shown(chain)).toEqual([
      '0 2 Validator 1000',
      '1 3 Validator 1000',
      '2 8 Validator 1000',
      '3 5 Candidate 500',
      '4 4 Candidate 0',
      '5 6 Candidate 0',
    ])
  })

  test('at equal shares the earlier block wins the last place', () => {
    const chain = startChain([1000, 1000], { params: { ...still, max_vals: 2 } })
    done(chain, account(5), 'declareCandidacy', { pubKey: new Uint8Array(32) })
    expect(chain.sets.get(chain.height + 2)).toEqual(
      new Map([
        [key(1), 1000],
        [key(2), 1000],
      ]),
    )
    chain.block({ txs: [chain.tx(account(1), 'deactivateCandidacy', {})] })
    expect([...(chain.sets.get(chain.height + 2) ?? [])].map(([one]) => one).sort()).toEqual(
      [key(2), pubKeyOf(new Uint8Array(32))].sort(),
    )
  })
})

describe('updates', () => {
  test('InitChain answers the set in the order of key bytes, whatever the order of genesis', () => {
    const chain = new TestChain()
    const { validators } = chain.init({
      accounts: [],
      candidacies: [3, 1, 2].map((at) => ({ owner: account(at), key: nodeKey(at), shares: tokens(at * 10) })),
    })
    expect(updatesOf({ validatorUpdates: validators ?? [] } as never)).toEqual([
      [key(1), 10],
      [key(2), 20],
      [key(3), 20],
    ])
  })

  test('only what changed is told, in the order of key bytes, with 0 for who leaves', () => {
    const chain = startChain([400, 300, 200], { params: { ...still, stake_limit: '1', max_vals: 3 } })
    const joined = chain.block({
      txs: [
        chain.tx(account(9), 'declareCandidacy', { pubKey: nodeKey(9), maxAmount: String(tokens(2500)) }),
        chain.tx(account(1), 'updateCandidacy', { maxAmount: String(tokens(5000)) }),
      ],
    })
    expect(updatesOf(joined.response)).toEqual([
      [key(1), 500],
      [key(9), 1],
    ])
    expect(eventsOf(joined.response)).toEqual([
      'svc.stake.validator_set changed=2',
      `svc.stake.joined owner=${account(9).address} pub_key=${keyText(9)}`,
    ])
    const quiet = [chain.block(), chain.block()]
    expect(quiet.flatMap(({ response }) => [...updatesOf(response), ...eventsOf(response)])).toEqual([])
    expect(updatesOf(chain.block().response)).toEqual([
      [key(3), 0],
      [key(9), 250],
    ])
  })

  test('when nobody is eligible the last set stays with its powers', () => {
    const chain = startChain([1000], { params: still })
    const { response } = chain.block({ txs: [chain.tx(account(1), 'withdrawCandidacy', {})] })
    expect(updatesOf(response)).toEqual([])
    chain.advanceTo(chain.height + 5)
    expect(chain.sets.get(chain.height + 2)).toEqual(new Map([[key(1), 1000]]))
    expect(updatesOf(chain.block({ txs: [chain.tx(account(1), 'activateCandidacy', {})] }).response)).toEqual([])
    expect(shown(chain)).toEqual(['0 1 Validator 1000'])
  })

  test('a smaller max_vals counts from the block in which it is in force', () => {
    const chain = startChain([1000, 300, 200], { params: { ...still, stake_limit: '1' } })
    expect(updatesOf(changeParam(chain, 'max_vals', '2').response)).toEqual([])
    expect(updatesOf(chain.block().response)).toEqual([[key(3), 0]])
    changeParam(chain, 'max_vals', '3')
    expect(updatesOf(chain.block().response)).toEqual([[key(3), 1]])
  })
})

describe('evidence parameters', () => {
  test.each([
    [60480, 60478],
    [200_000, 100_000],
    [100_002, 100_000],
    [100_001, 99_999],
    [4, 2],
    [3, 1],
    [1, 1],
  ])('a period of %d blocks gives %d', (period, blocks) => {
    const { consensusParams } = new TestChain().init({
      accounts: [],
      params: { unstake_wait_period: period },
      candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(3) }],
    })
    expect(consensusParams).toEqual({
      block: { maxBytes: 1_000_000, maxGas: -1 },
      evidence: { maxAgeNumBlocks: blocks, maxAgeDuration: { seconds: 1, nanos: 0 }, maxBytes: 100_000 },
      version: { app: 1 },
    })
  })

  test('an approved change sends the whole group in its block, and an approval of something else sends none', () => {
    const chain = startChain([1000], { params: still })
    expect(changeParam(chain, 'unstake_wait_period', '2000').response.consensusParamUpdates).toEqual({
      evidence: { maxAgeNumBlocks: 1998, maxAgeDuration: { seconds: 1, nanos: 0 }, maxBytes: 100_000 },
    })
    expect(chain.block().response.consensusParamUpdates).toBeUndefined()
    expect(changeParam(chain, 'max_vals', '5').response.consensusParamUpdates).toBeUndefined()
    done(chain, account(1), 'withdrawCandidacy')
    expect(chain.query(`/stake/unbonding/${account(1).address}`)).toMatchObject([
      { completion_height: chain.height + 2000 },
    ])
    expect(recordOf(chain, account(1)).withdrawn).toBe(true)
  })
})
