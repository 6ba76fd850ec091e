import { describe, expect, test } from '@jest/globals'
import { absences, setMembers } from '../../../src/modules/stake/tables.ts'
import { account, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { changeParam, done, key, keyText, recordOf, startChain, updatesOf } from '../support.ts'

const params = { inflation_rate: 0, gas_price: 0, stake_limit: '1', unstake_wait_period: 50 }

const numberOf = (pubKey: string): number =>
  Array.from({ length: 40 }, (_, at) => at).find((at) => key(at) === pubKey) as number

/** The set as last sent, `key: power`, with a `?` for one that is not proven; by the number of the key. */
const setOf = ({ store }: TestChain): readonly string[] =>
  [...store.scan(setMembers)]
    .map(({ pubKey, power, proven }) => [numberOf(pubKey), `${power}${proven ? '' : '?'}`] as const)
    .sort(([a], [b]) => a - b)
    .map(([number, power]) => `${number}: ${power}`)

const declaration = (number: number, selfStake = 1000) => ({
  pubKey: nodeKey(number),
  maxAmount: tokens(10 * selfStake).toString(),
})

const declare = (chain: TestChain, number: number, selfStake?: number): void =>
  void done(chain, account(number), 'declareCandidacy', declaration(number, selfStake))

describe('a key earns its power by signing (protocol.md §4.4)', () => {
  test('a new candidacy joins with power 1, and has its power in the block that carries its first signature', () => {
    const chain = startChain([1000, 1000], { params })
    declare(chain, 5)
    const declared = chain.height
    expect(setOf(chain)).toEqual(['1: 1000', '2: 1000', '5: 1?'])
    expect(chain.sets.get(declared + 1)?.has(key(5))).toBe(false)
    expect(chain.sets.get(declared + 2)?.get(key(5))).toBe(1)
    chain.advanceTo(declared + 2)
    expect(setOf(chain)).toEqual(['1: 1000', '2: 1000', '5: 1?'])
    expect(updatesOf(chain.block().response)).toEqual([[key(5), 1000]])
    expect(setOf(chain)).toEqual(['1: 1000', '2: 1000', '5: 1000'])
  })

  test('a key that no node holds stays at 1 until its absence removes it', () => {
    const chain = startChain([1000, 1000], { params, stake: { max_absent_blocks: 5 } })
    declare(chain, 5)
    const seen = new Set<string>()
    while (recordOf(chain, account(5)).active) {
      chain.block({ absent: [key(5)] })
      seen.add(setOf(chain).join(' '))
    }
    expect([...seen]).toEqual(['1: 1000 2: 1000 5: 1?', '1: 1000 2: 1000'])
  })

  test('the keys of genesis are proven from the start', () => {
    const chain = startChain([1000, 500], { params })
    expect(setOf(chain)).toEqual(['1: 1000', '2: 500'])
  })

  test('nobody is outranked out of the set before those who take the place have signed', () => {
    const chain = startChain([100, 50], { params: { ...params, max_vals: 2 } })
    for (const number of [5, 6]) declare(chain, number)
    chain.advanceTo(12)
    const silent = startChain([100, 50], { params: { ...params, max_vals: 2 } })
    for (const number of [5, 6]) declare(silent, number)
    for (let blocks = 0; blocks < 10; blocks++) silent.block({ absent: [key(5), key(6)] })
    expect(setOf(silent)).toEqual(['1: 100', '2: 50', '5: 1?', '6: 1?'])
    expect(setOf(chain)).toEqual(['5: 1000', '6: 1000'])
  })

  test('those who join have less than half of the power of the proven, the first in rank before the others', () => {
    const chain = startChain([4, 3], { params: { ...params, max_vals: 10 } })
    chain.block({
      txs: [5, 6, 7, 8].map((number) =>
        chain.tx(account(number), 'declareCandidacy', declaration(number, 100 * number)),
      ),
    })
    // floor((7 - 1) / 2) = 3
    expect(setOf(chain)).toEqual(['1: 4', '2: 3', '6: 1?', '7: 1?', '8: 1?'])
    chain.block({ txs: [chain.tx(account(2), 'deactivateCandidacy', {})], absent: [key(6), key(7), key(8)] })
    // floor((4 - 1) / 2) = 1
    expect(setOf(chain)).toEqual(['1: 4', '8: 1?'])
  })

  test('candidacies behind the first max_vals do not join', () => {
    const chain = startChain([1000, 900], { params: { ...params, max_vals: 2 } })
    declare(chain, 5, 800)
    expect(setOf(chain)).toEqual(['1: 1000', '2: 900'])
    declare(chain, 6, 950)
    expect(setOf(chain)).toEqual(['1: 1000', '2: 900', '6: 1?'])
  })
})

describe('a change of key', () => {
  test('the only validator keeps its old key until the new one has signed', () => {
    const chain = startChain([1000], { params })
    const changed = chain.block({ txs: [chain.tx(account(1), 'updateCandidacy', { pubKey: nodeKey(9) })] })
    expect(updatesOf(changed.response)).toEqual([[key(9), 1]])
    expect(setOf(chain)).toEqual(['1: 1000', '9: 1?'])
    for (let blocks = 0; blocks < 20; blocks++) chain.block({ absent: [key(9)] })
    expect(setOf(chain)).toEqual(['1: 1000', '9: 1?'])
    expect(updatesOf(chain.block().response)).toEqual([
      [key(1), 0],
      [key(9), 1000],
    ])
    expect(setOf(chain)).toEqual(['9: 1000'])
  })

  test('a signature of either key is one of the candidacy: it is not absent', () => {
    const chain = startChain([1000, 1000], { params, stake: { max_absent_blocks: 3 } })
    chain.block({
      txs: [1, 2].map((number) => chain.tx(account(number), 'updateCandidacy', { pubKey: nodeKey(10 + number) })),
    })
    expect(setOf(chain)).toEqual(['1: 1000', '2: 1000', '11: 1?', '12: 1?'])
    for (let blocks = 0; blocks < 20; blocks++) {
      chain.block({ absent: [key(11), key(12)] })
      expect([...chain.store.scan(absences)]).toEqual([])
    }
    chain.block({ absent: [key(1), key(11), key(12)] })
    expect([...chain.store.scan(absences)]).toEqual([{ candidacyId: 1, count: 1 }])
  })

  test('it may go back to the old key while the new one has not signed', () => {
    const chain = startChain([1000], { params })
    done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(9) })
    chain.block({ absent: [key(9)] })
    expect(
      updatesOf(chain.block({ txs: [chain.tx(account(1), 'updateCandidacy', { pubKey: nodeKey(1) })] }).response),
    ).toEqual([[key(9), 0]])
    expect(setOf(chain)).toEqual(['1: 1000'])
  })

  test('among others the old key leaves at once and the power comes back when the new one signs', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(9) })
    expect(setOf(chain)).toEqual(['2: 1000', '3: 1000', '9: 1?'])
    chain.advanceTo(chain.height + 3)
    expect(setOf(chain)).toEqual(['2: 1000', '3: 1000', '9: 1000'])
  })

  test('both keys of one candidacy are in the set: it is shown once, and is in the set with either', () => {
    const chain = startChain([1000], { params })
    done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(9) })
    expect(chain.query('/stake/validators')).toMatchObject([{ state: 'Validator', voting_power: 1000 }])
    expect(chain.query('/stake/set')).toEqual([
      { pub_key: { type: 'tendermint/PubKeyEd25519', value: keyText(1) }, candidacy_id: 1, power: 1000, proven: true },
      { pub_key: { type: 'tendermint/PubKeyEd25519', value: keyText(9) }, candidacy_id: 1, power: 1, proven: false },
    ])
    expect(chain.query('/stake/set/owners')).toMatchObject([
      { owner_address: account(1).address, power: 1000, proven: true },
      { owner_address: account(1).address, power: 1, proven: false },
    ])
    expect(changeParam(chain, 'max_vals', '9').results.map(({ code }) => code)).not.toContain(20)
  })
})

describe('withdraw and declare again', () => {
  test('with the same key in one block the key stays proven, sends nothing, and its row changes', () => {
    const chain = startChain([1000], { params })
    const { response, results } = chain.block({
      txs: [
        chain.tx(account(1), 'withdrawCandidacy', {}, 0),
        chain.tx(account(1), 'declareCandidacy', declaration(1), 1),
      ],
    })
    expect(results.map(({ code }) => code)).toEqual([0, 0])
    expect(updatesOf(response)).toEqual([])
    expect([...chain.store.scan(setMembers)]).toEqual([{ pubKey: key(1), candidacyId: 2, power: 1000, proven: true }])
  })

  test('alone it goes on with its power in between', () => {
    const chain = startChain([1000], { params })
    done(chain, account(1), 'withdrawCandidacy')
    for (let blocks = 0; blocks < 5; blocks++) chain.block()
    expect(setOf(chain)).toEqual(['1: 1000'])
    done(chain, account(1), 'declareCandidacy', { pubKey: nodeKey(1), maxAmount: tokens(7000).toString() })
    expect([...chain.store.scan(setMembers)]).toEqual([{ pubKey: key(1), candidacyId: 2, power: 700, proven: true }])
  })

  test('among others the key leaves, and earns its power anew', () => {
    const chain = startChain([1000, 1000], { params })
    done(chain, account(1), 'withdrawCandidacy')
    expect(setOf(chain)).toEqual(['2: 1000'])
    chain.block()
    declare(chain, 1)
    expect(setOf(chain)).toEqual(['1: 1?', '2: 1000'])
    chain.advanceTo(chain.height + 3)
    expect(setOf(chain)).toEqual(['1: 1000', '2: 1000'])
  })

  test('a key that comes back in the next block is not proven by what it signs as a member that is leaving', () => {
    const chain = startChain([1000, 1000], { params })
    done(chain, account(1), 'deactivateCandidacy')
    done(chain, account(1), 'activateCandidacy')
    const back = chain.height
    // Its new period begins at back + 2; the commit of that height stands in block back + 3.
    while (chain.height < back + 2) {
      expect(setOf(chain)).toEqual(['1: 1?', '2: 1000'])
      chain.block()
    }
    expect(setOf(chain)).toEqual(['1: 1?', '2: 1000'])
    chain.block()
    expect(setOf(chain)).toEqual(['1: 1000', '2: 1000'])
  })
})

describe('nobody eligible', () => {
  test('the proven stay with their powers, and of those who join none before it signs counts for more than 1', () => {
    const chain = startChain([1000, 600], { params })
    chain.block({ txs: [1, 2].map((number) => chain.tx(account(number), 'withdrawCandidacy', {})) })
    expect(setOf(chain)).toEqual(['1: 1000', '2: 600'])
    declare(chain, 5)
    expect(setOf(chain)).toEqual(['1: 1000', '2: 600', '5: 1?'])
    chain.block({ absent: [key(5)] })
    expect(setOf(chain)).toEqual(['1: 1000', '2: 600', '5: 1?'])
    chain.advanceTo(chain.height + 3)
    expect(setOf(chain)).toEqual(['5: 1000'])
  })

  test('a member that had not signed leaves, as it is eligible no more', () => {
    const chain = startChain([1000], { params })
    declare(chain, 5, 2000)
    expect(setOf(chain)).toEqual(['1: 1000', '5: 1?'])
    chain.block({ txs: [1, 5].map((number) => chain.tx(account(number), 'deactivateCandidacy', {})) })
    expect(setOf(chain)).toEqual(['1: 1000'])
  })
})

describe('a set of less than 3 of power', () => {
  test('counts three times, so that others can join it again', () => {
    const chain = startChain([1000, 2], { params })
    done(chain, account(1), 'deactivateCandidacy')
    expect(setOf(chain)).toEqual(['2: 6'])
    done(chain, account(1), 'activateCandidacy')
    expect(setOf(chain)).toEqual(['1: 1?', '2: 6'])
    chain.advanceTo(chain.height + 3)
    expect(setOf(chain)).toEqual(['1: 1000', '2: 2'])
  })

  test('of one token lets one key join, and what is shown of its owner stays 1', () => {
    const chain = startChain([1000, 1], { params })
    chain.block({
      txs: [
        chain.tx(account(1), 'deactivateCandidacy', {}),
        chain.tx(account(5), 'declareCandidacy', declaration(5)),
        chain.tx(account(6), 'declareCandidacy', declaration(6, 900)),
      ],
    })
    expect(setOf(chain)).toEqual(['2: 3', '5: 1?'])
    expect(chain.query(`/stake/validator/${account(2).address}`)).toMatchObject({ voting_power: 1 })
    chain.advanceTo(chain.height + 3)
    expect(setOf(chain)).toEqual(['2: 1', '5: 1000', '6: 1?'])
  })

  test('of 3 is as it is', () => {
    const chain = startChain([1000, 3], { params })
    done(chain, account(1), 'deactivateCandidacy')
    expect(setOf(chain)).toEqual(['2: 3'])
  })
})

test('a genesis of less than 3 of voting power is refused: nobody could ever join', () => {
  expect(() => startChain([2], { params })).toThrow(
    /candidacies: expected a voting power of at least 3 in all .* got 2/,
  )
  expect(() => startChain([2, 1, 1], { params: { ...params, max_vals: 1 } })).toThrow(/got 2/)
  expect(setOf(startChain([2, 1], { params }))).toEqual(['1: 2', '2: 1'])
  // Those with the most shares count, whatever the order in which the genesis names them.
  expect(setOf(startChain([1, 3], { params: { ...params, max_vals: 1 } }))).toEqual(['2: 3'])
})
