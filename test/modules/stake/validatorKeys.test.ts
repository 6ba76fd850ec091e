import { describe, expect, test } from '@jest/globals'
import { createOverlay } from '../../../src/store/index.ts'
import { addressOfKey } from '../../../src/values/address.ts'
import { candidacyIdAt, dropKeyPeriods } from '../../../src/modules/stake/keeper.ts'
import {
  NEWEST_PERIODS,
  newestOf,
  newestPeriods,
  setMembers,
  validatorKeys,
} from '../../../src/modules/stake/tables.ts'
import { account, nodeKey, type TestChain } from '../../support/testChain.ts'
import { done, key, startChain, updatesOf } from '../support.ts'

const params = { inflation_rate: 0, gas_price: 0, unstake_wait_period: 6, stake_limit: '1' }
const rows = (chain: TestChain, number: number): readonly string[] =>
  [...chain.store.scan(validatorKeys)]
    .filter(({ pubKey }) => pubKey === key(number))
    .map(({ candidacyId, firstHeight, lastHeight }) => `${candidacyId}: ${firstHeight} to ${lastHeight}`)
const whose = (chain: TestChain, number: number, height: number): number | undefined =>
  candidacyIdAt(chain.store, addressOfKey(nodeKey(number)), height)

describe('validator_keys', () => {
  test('rows of InitChain begin at the initial height, later ones two blocks after theirs', () => {
    const chain = startChain([1000, 1000], { params }, { initialHeight: 50 })
    expect(chain.height).toBe(50)
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    expect([rows(chain, 1), rows(chain, 5)]).toEqual([['1: 50 to 0'], ['3: 53 to 0']])
    expect([whose(chain, 1, 49), whose(chain, 1, 50), whose(chain, 5, 52), whose(chain, 5, 53)]).toEqual([
      undefined,
      1,
      undefined,
      3,
    ])
  })

  test('a key that leaves in block H ends at H + 1, and begins anew when it comes back', () => {
    const chain = startChain([1000, 1000], { params })
    done(chain, account(1), 'deactivateCandidacy')
    expect(rows(chain, 1)).toEqual(['1: 1 to 3'])
    done(chain, account(1), 'activateCandidacy')
    expect(rows(chain, 1)).toEqual(['1: 1 to 3', '1: 5 to 0'])
    expect([3, 4, 5].map((height) => whose(chain, 1, height))).toEqual([1, undefined, 1])
    done(chain, account(1), 'deactivateCandidacy')
    expect(rows(chain, 1)).toEqual(['1: 1 to 3', '1: 5 to 5'])
  })

  test('leaving and coming back in one block changes nothing', () => {
    const chain = startChain([1000, 1000], { params })
    const { response } = chain.block({
      txs: [chain.tx(account(1), 'withdrawCandidacy', {}), chain.tx(account(1), 'activateCandidacy', {}, 1)],
    })
    expect([rows(chain, 1), updatesOf(response)]).toEqual([['1: 1 to 0'], []])
  })

  test('a key that only changes candidacy sends nothing, but its rows change', () => {
    const chain = startChain([1000, 1000], { params })
    const { response, results } = chain.block({
      txs: [
        chain.tx(account(1), 'withdrawCandidacy', {}),
        chain.tx(account(1), 'declareCandidacy', { pubKey: nodeKey(1) }, 1),
      ],
    })
    expect([results.map(({ code }) => code), updatesOf(response)]).toEqual([[0, 0], []])
    expect(rows(chain, 1)).toEqual(['1: 1 to 3', '3: 4 to 0'])
    expect(chain.store.get(setMembers, { pubKey: key(1) })).toEqual({
      pubKey: key(1),
      candidacyId: 3,
      power: 1000,
      proven: true,
    })
    expect([whose(chain, 1, 3), whose(chain, 1, 4)]).toEqual([1, 3])
  })

  test('a changed key is the same candidacy under another key', () => {
    const chain = startChain([1000, 1000], { params })
    done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(9) })
    expect([rows(chain, 1), rows(chain, 9)]).toEqual([['1: 1 to 3'], ['1: 4 to 0']])
  })

  test('a change of key reads as few rows whatever the key has behind it', () => {
    const chain = startChain([1000, 1000], { params: { ...params, unstake_wait_period: 1000 } })
    const change = (number: number): unknown => done(chain, account(1), 'updateCandidacy', { pubKey: nodeKey(number) })
    let read = 0
    const { store } = chain
    const scan = store.scan.bind(store)
    store.scan = ((table, ...given) => {
      const found = scan(table, ...given)
      if ((table as object) !== validatorKeys) return found
      return (function* () {
        for (const row of found) {
          read += 1
          yield row
        }
      })()
    }) as typeof scan
    const readBy = (number: number): number => {
      read = 0
      change(number)
      return read
    }
    const first = [8, 9, 8, 9, 8, 9, 8, 9, 8, 9].map(readBy).at(-1)
    for (let at = 0; at < 20; at++) for (const number of [8, 9]) change(number)
    expect(rows(chain, 8).length).toBeGreaterThan(15)
    expect(readBy(8)).toBe(first)

    const periods = [...chain.store.scan(validatorKeys)].filter(({ pubKey }) => pubKey === key(8))
    const inRows = (height: number): number | undefined =>
      periods.find((one) => one.firstHeight <= height && (one.lastHeight === 0 || one.lastHeight >= height))
        ?.candidacyId
    for (let height = 1; height <= chain.height + 3; height++) {
      read = 0
      expect([height, whose(chain, 8, height)]).toEqual([height, inRows(height)])
      expect(read).toBeLessThanOrEqual(1)
    }
    expect([-1, Number.MIN_SAFE_INTEGER].map((height) => whose(chain, 8, height))).toEqual([undefined, undefined])
    const { validator, periods: inMemory } = newestOf(chain.store, addressOfKey(nodeKey(8)))
    expect(chain.store.get(newestPeriods, { validator })?.periods).toEqual(inMemory)
    expect(inMemory).toHaveLength(NEWEST_PERIODS)
  })

  test('what a shorter period drops in one block leaves memory too, without a look at other rows', () => {
    const { store } = startChain([1000, 1000], { params })
    const block = createOverlay(store)
    for (let at = 0; at < 300; at++)
      block.put(validatorKeys, { pubKey: key(7 + (at % 2)), firstHeight: 10 + at, candidacyId: 3, lastHeight: 10 + at })
    const validators = [7, 8].map((number) => addressOfKey(nodeKey(number)))
    for (const validator of validators) block.put(newestPeriods, newestOf(block, validator))
    let scans = 0
    const { scan } = block
    block.scan = ((...given: Parameters<typeof scan>) => {
      scans += 1
      return scan.apply(block, given)
    }) as typeof scan
    for (const oldest of [305, 308]) {
      dropKeyPeriods(block, oldest)
      for (const validator of validators)
        expect(block.get(newestPeriods, { validator })).toEqual(newestOf(block, validator))
    }
    expect([...block.scan(validatorKeys)].filter(({ candidacyId }) => candidacyId === 3)).toHaveLength(2)
    // One for each drop, four of `newestOf`, and the last.
    expect(scans).toBe(7)
  })

  test('a row is dropped once its last height is below H - max_age_num_blocks, and not a block before', () => {
    const chain = startChain([1000, 1000], { params })
    done(chain, account(1), 'deactivateCandidacy')
    chain.advanceTo(7)
    expect(rows(chain, 1)).toEqual(['1: 1 to 3'])
    chain.advanceTo(8)
    expect([rows(chain, 1), rows(chain, 2)]).toEqual([[], ['2: 1 to 0']])
  })
})
