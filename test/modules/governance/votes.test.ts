import { describe, expect, test } from '@jest/globals'
import { sha256 } from '../../../src/base/sha256.ts'
import { decided } from '../../../src/modules/governance/block.ts'
import { account, nodeKey, TestChain, tokens } from '../../support/testChain.ts'
import { bytesOf, done } from '../support.ts'
import { change, genesisOf, govChain, proposed, shown, voted, voteOf } from './support.ts'

describe('votes', () => {
  test.each([
    [200, 100, 'Approved'],
    [199, 101, ''],
    [2, 1, 'Approved'],
    [2, 2, ''],
    [667, 333, 'Approved'],
    [666, 334, ''],
  ])('Y of %d against %d silent: %s', (yes, silent, result) => {
    for (const answer of ['Y', 'N']) {
      const chain = govChain([yes, silent])
      const id = proposed(chain, account(2), 'proposeChangeParam', change())
      voted(chain, account(1), id, answer)
      expect(shown(chain, id)['Result']).toBe(answer === 'Y' || result === '' ? result : 'Rejected')
    }
  })

  test('a later vote replaces an earlier one', () => {
    const chain = govChain([60, 40])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    voted(chain, account(1), id)
    voted(chain, account(1), id, 'N')
    expect(shown(chain, id)).toMatchObject({
      Votes: [{ Voter: account(1).address, Answer: 'N', BlockHeight: 4 }],
      Tally: { Yes: 0, No: 60, Total: 100 },
    })
    voted(chain, account(2), id)
    expect(shown(chain, id)['Result']).toBe('')
  })

  test('a vote stays with the candidacy that is handed over, Voter is the owner of then, and the new owner replaces it', () => {
    const chain = govChain([60, 40])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    voted(chain, account(1), id)
    done(chain, account(1), 'updateCandidacyAccount', { newCandidateAccount: bytesOf(account(5)) })
    done(chain, account(5), 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })
    expect(shown(chain, id)).toMatchObject({ Votes: [{ Voter: account(1).address, Answer: 'Y' }], Tally: { Yes: 60 } })
    expect(chain.deliver(account(1), 'vote', voteOf(id))).toMatchObject({ code: 20, log: 'Invalid validator' })
    voted(chain, account(5), id, 'N')
    expect(shown(chain, id)).toMatchObject({
      Votes: [{ Voter: account(5).address, Answer: 'N' }],
      Tally: { Yes: 0, No: 60 },
    })
  })

  test('a vote of who left the set counts no more, and counts again when the same candidacy is back', () => {
    const chain = govChain([60, 40])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    voted(chain, account(2), id)
    expect(chain.deliver(account(2), 'deactivateCandidacy').code).toBe(0)
    expect(shown(chain, id)).toMatchObject({ Votes: [{ Voter: account(2).address }], Tally: { Yes: 0, Total: 60 } })
    expect(chain.deliver(account(2), 'vote', voteOf(id, 'N'))).toMatchObject({ code: 20, log: 'Invalid validator' })
    expect(chain.deliver(account(2), 'activateCandidacy').code).toBe(0)
    expect(shown(chain, id)).toMatchObject({ Tally: { Yes: 1, Total: 61 } })
    chain.advanceTo(chain.height + 3)
    expect(shown(chain, id)).toMatchObject({ Tally: { Yes: 40, Total: 100 } })
  })

  test('the set is that of the end of the block before: who deactivates in this block still votes, who comes in does not', () => {
    const chain = govChain([60, 40])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    const nonce = chain.nonceOf(account(2))
    const newcomer = [
      chain.tx(account(5), 'declareCandidacy', { pubKey: nodeKey(5), maxAmount: tokens(400).toString() }, 0),
      chain.tx(account(5), 'vote', voteOf(id), 1),
    ]
    const { results } = chain.block({
      txs: [
        chain.tx(account(2), 'deactivateCandidacy', {}, nonce),
        chain.tx(account(2), 'vote', voteOf(id), nonce + 1),
        ...newcomer,
      ],
    })
    expect(results.map(({ code, log }) => [code, log])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
      [20, 'Invalid validator'],
    ])
    expect(results[1]?.events?.[0]?.attributes).toHaveLength(2)
    expect(chain.deliver(account(5), 'vote', voteOf(id)).code).toBe(0)
  })

  test('who withdraws in this block votes no more in it', () => {
    const chain = govChain([60, 40])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    const nonce = chain.nonceOf(account(2))
    const { results } = chain.block({
      txs: [chain.tx(account(2), 'withdrawCandidacy', {}, nonce), chain.tx(account(2), 'vote', voteOf(id), nonce + 1)],
    })
    expect(results.map(({ log }) => log)).toEqual(['', 'Invalid validator'])
  })

  test("a new candidacy of the same owner and key has no part in the old one's vote", () => {
    const chain = govChain([60, 40])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    voted(chain, account(2), id)
    const nonce = chain.nonceOf(account(2))
    const { results } = chain.block({
      txs: [
        chain.tx(account(2), 'withdrawCandidacy', {}, nonce),
        chain.tx(account(2), 'declareCandidacy', { pubKey: nodeKey(2), maxAmount: tokens(400).toString() }, nonce + 1),
      ],
    })
    expect(results.map(({ code }) => code)).toEqual([0, 0])
    expect(shown(chain, id)).toMatchObject({ Tally: { Yes: 0, No: 0, Total: 100 } })
  })

  test('the first block counts with the set of InitChain', () => {
    const chain = new TestChain()
    chain.init(genesisOf([60, 40]))
    const made = chain.tx(account(1), 'proposeChangeParam', change(), 0)
    const id = Buffer.from(sha256(made)).toString('base64')
    const txs = [made, chain.tx(account(1), 'vote', voteOf(id), 1), chain.tx(account(2), 'vote', voteOf(id), 0)]
    const { results } = chain.block({ txs })
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(shown(chain, id)).toMatchObject({
      Result: 'Approved',
      ResultBlockHeight: 1,
      Tally: { Yes: 100, Total: 100 },
    })
  })

  test('a total of 0 decides nothing', () => {
    const results = [
      { yes: 0, no: 0, total: 0 },
      { yes: 0, no: 0, total: 1 },
      { yes: 1, no: 0, total: 1 },
    ].map(decided)
    expect(results).toEqual(['', '', 'Approved'])
  })

  test('two thirds of the largest powers are counted exactly', () => {
    const total = 9_000_000_000_000_000
    const results = [6_000_000_000_000_000, 5_999_999_999_999_999].map((yes) => decided({ yes, no: 0, total }))
    expect(results).toEqual(['Approved', ''])
  })

  test('the tally of a resolved proposal stays what it was', () => {
    const chain = govChain([70, 30])
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    voted(chain, account(2), id, 'N')
    voted(chain, account(1), id)
    const frozen = { Tally: { Yes: 70, No: 30, Total: 100 } }
    expect(shown(chain, id)).toMatchObject(frozen)
    expect(chain.deliver(account(1), 'deactivateCandidacy').code).toBe(0)
    chain.block()
    expect(shown(chain, id)).toMatchObject(frozen)
  })
})
