import { describe, expect, test } from '@jest/globals'
import type { PubKey } from '../../../src/values/pubKey.ts'
import { setMembers, validatorKeys } from '../../../src/modules/stake/tables.ts'
import { account, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { bytesOf, done, failure, key, startChain } from '../support.ts'

/** A key that another's node still signs with cannot be taken over. Source: protocol.md §3, held back. */

// Key periods are kept for max_age_num_blocks, here 6, after their last height.
const params = { inflation_rate: 0, gas_price: 0, stake_limit: '1', unstake_wait_period: 8 }
const DECLARED = '1 pubkey has been declared'
const OWNER = account(1)
const STRANGER = account(5)

/** Stakes 5,000 tokens: more than the owner has. */
const oldKey = { pubKey: nodeKey(1), maxAmount: tokens(50_000).toString() }

const powerOf = ({ store }: TestChain, pubKey: PubKey): number | undefined => store.get(setMembers, { pubKey })?.power
const periodsOf = ({ store }: TestChain, pubKey: PubKey): number =>
  [...store.scan(validatorKeys)].filter((row) => row.pubKey === pubKey).length

/** What the owner does, after which its key leaves the set. */
const moves = {
  'changes its key': { operation: 'updateCandidacy', message: { pubKey: nodeKey(9) } },
  withdraws: { operation: 'withdrawCandidacy', message: {} },
} as const

describe.each(Object.entries(moves))('an owner %s', (_name, { operation, message }) => {
  test('and in the same block a stranger activates a record with the old key, withdrawn before: refused', () => {
    const chain = startChain([1000, 1000], { params: { ...params, max_vals: 2 } })
    const joining = { pubKey: nodeKey(3), maxAmount: tokens(30_000).toString() }
    done(chain, STRANGER, 'declareCandidacy', { ...joining, maxAmount: tokens(100).toString() })
    done(chain, STRANGER, 'withdrawCandidacy')
    done(chain, account(6), 'declareCandidacy', joining)
    expect(periodsOf(chain, key(3))).toBe(1)
    const { results } = chain.block({
      txs: [chain.tx(account(6), operation, message), chain.tx(STRANGER, 'activateCandidacy', {})],
    })
    expect(results.map(({ code, log }) => `${code} ${log}`)).toEqual(['0 ', DECLARED])
    expect(powerOf(chain, key(3))).toBeUndefined()
  })

  test('and in the same block a stranger declares the old key: refused, and the key leaves the set', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    const { results } = chain.block({
      txs: [chain.tx(OWNER, operation, message), chain.tx(STRANGER, 'declareCandidacy', oldKey)],
    })
    expect(results.map(({ code, log }) => `${code} ${log}`)).toEqual(['0 ', DECLARED])
    expect(powerOf(chain, key(1))).toBeUndefined()
  })

  test('and a stranger that has a candidacy changes to the old key: refused', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    const { results } = chain.block({
      txs: [chain.tx(OWNER, operation, message), chain.tx(account(2), 'updateCandidacy', { pubKey: nodeKey(1) })],
    })
    expect(results.map(({ code, log }) => `${code} ${log}`)).toEqual(['0 ', DECLARED])
  })

  test('later it is refused too, until the last row of the key is dropped', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    done(chain, OWNER, operation, message)
    while (periodsOf(chain, key(1)) > 0) {
      expect(failure(chain, STRANGER, 'declareCandidacy', oldKey)).toBe(DECLARED)
      expect(failure(chain, account(2), 'updateCandidacy', { pubKey: nodeKey(1) })).toBe(DECLARED)
      chain.block()
    }
    // The row ended in block 3 and was dropped in block 10.
    expect(chain.height).toBe(10)
    done(chain, STRANGER, 'declareCandidacy', oldKey)
    expect(powerOf(chain, key(1))).toBe(1)
  })
})

describe('a key is not held back from', () => {
  test('the owner who changed it, and changes back', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    done(chain, OWNER, 'updateCandidacy', { pubKey: nodeKey(9) })
    done(chain, OWNER, 'updateCandidacy', { pubKey: nodeKey(1) })
    expect(powerOf(chain, key(1))).toBe(1)
  })

  test('who withdrew: the address declares it again, or activates', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    done(chain, OWNER, 'withdrawCandidacy')
    done(chain, OWNER, 'declareCandidacy', { pubKey: nodeKey(1) })
    done(chain, account(2), 'withdrawCandidacy')
    done(chain, account(2), 'activateCandidacy')
    expect([powerOf(chain, key(1)), powerOf(chain, key(2))]).toEqual([1, 1])
  })

  test('anybody, when it was never in the set', () => {
    const chain = startChain([1000, 1000], { params: { ...params, max_vals: 2 } })
    done(chain, STRANGER, 'declareCandidacy', { pubKey: nodeKey(7), maxAmount: tokens(100).toString() })
    expect(powerOf(chain, key(7))).toBeUndefined()
    done(chain, STRANGER, 'withdrawCandidacy')
    done(chain, account(6), 'declareCandidacy', { pubKey: nodeKey(7) })
  })
})

describe('a key is held back from', () => {
  test('who owned the candidacy before a hand-over; the new owner may change to it', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    done(chain, OWNER, 'updateCandidacy', { pubKey: nodeKey(9) })
    const { data } = done(chain, OWNER, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(STRANGER) })
    const accountUpdateRequestId = Number(new TextDecoder().decode(data))
    done(chain, STRANGER, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId })
    expect(failure(chain, OWNER, 'declareCandidacy', { pubKey: nodeKey(1) })).toBe(DECLARED)
    done(chain, STRANGER, 'updateCandidacy', { pubKey: nodeKey(1) })
  })

  test('everybody, when the record of its candidacy is gone', () => {
    const chain = startChain([1000, 1000, 1000], { params })
    done(chain, OWNER, 'withdrawCandidacy')
    // Another candidacy of the address takes the record's place.
    done(chain, OWNER, 'declareCandidacy', { pubKey: nodeKey(9) })
    expect(failure(chain, OWNER, 'updateCandidacy', { pubKey: nodeKey(1) })).toBe(DECLARED)
    expect(failure(chain, STRANGER, 'declareCandidacy', oldKey)).toBe(DECLARED)
  })
})

test('a signature of an earlier period of a key proves nothing in a later one', () => {
  const chain = startChain([1000, 1000, 1000], { params })
  done(chain, OWNER, 'withdrawCandidacy')
  // Its node still signs for two blocks: CometBFT applies the change two blocks later.
  done(chain, OWNER, 'declareCandidacy', oldKey)
  const [period] = [...chain.store.scan(validatorKeys)].filter((row) => row.pubKey === key(1)).slice(-1)
  const firstHeight = period?.firstHeight ?? 0
  expect(firstHeight).toBe(chain.height + 2)
  while (chain.height < firstHeight) {
    expect(powerOf(chain, key(1))).toBe(1)
    chain.block()
  }
  expect(powerOf(chain, key(1))).toBe(1)
  chain.block()
  expect(powerOf(chain, key(1))).toBe(5000)
})
