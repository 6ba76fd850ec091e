import { parseProposalId, type ProposalId } from '../../../src/values/pubKey.ts'
import { describe, expect, test } from '@jest/globals'
import { proposals } from '../../../src/modules/governance/tables.ts'
import { account, type TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, bytesOf, done } from '../support.ts'
import { FEE, fund, govChain, HOLD, proposed, shown, voted, voteOf } from './support.ts'

const to = account(5)
const escrowOf = (chain: TestChain, id: string): bigint | undefined =>
  chain.store.get(proposals, { id: parseProposalId(id) as ProposalId })?.escrow

describe('from the proposer', () => {
  test('the amount leaves the balance with the proposal, sits in its row, and goes to its target when approved', () => {
    const chain = govChain([100])
    const id = proposed(chain, account(1), 'proposeTransferFund', fund(account(1), to, 500n, { reason: 'r' }))
    expect(balanceOf(chain, account(1))).toBe(tokens(1000) - FEE - 500n)
    expect([escrowOf(chain, id), balanceOf(chain, to)]).toEqual([500n, tokens(1000)])
    expect(shown(chain, id).Detail).toEqual({ amount: '500', from: account(1).address, to: to.address, reason: 'r' })
    voted(chain, account(1), id)
    expect([escrowOf(chain, id), balanceOf(chain, to)]).toEqual([0n, tokens(1000) + 500n])
    expect(balanceOf(chain, account(1))).toBe(tokens(1000) - 2n * FEE - 500n)
    expect(shown(chain, id)).toMatchObject({ Result: 'Approved', Detail: { amount: '500' } })
  })

  test.each([
    ['rejected', 'N'],
    ['expired', undefined],
  ])('the amount goes back when %s', (_name, answer) => {
    const chain = govChain([100])
    const id = proposed(chain, account(1), 'proposeTransferFund', fund(account(1), to, 500n, { expireBlockHeight: 4 }))
    if (answer !== undefined) voted(chain, account(1), id, answer)
    chain.advanceTo(4)
    const fees = answer === undefined ? FEE : 2n * FEE
    expect([balanceOf(chain, account(1)), balanceOf(chain, to), escrowOf(chain, id)]).toEqual([
      tokens(1000) - fees,
      tokens(1000),
      0n,
    ])
  })

  test('all of the balance but the fee may be proposed', () => {
    const chain = govChain([100])
    proposed(chain, account(1), 'proposeTransferFund', fund(account(1), account(1), tokens(1000) - FEE))
    expect(balanceOf(chain, account(1))).toBe(0n)
  })

  test('a proposer who is the hold account too pays by escrow', () => {
    const chain = govChain([100], { hold_account: account(1).address })
    const id = proposed(chain, account(1), 'proposeTransferFund', fund(account(1), to, 500n))
    expect([escrowOf(chain, id), balanceOf(chain, account(1))]).toEqual([500n, tokens(1000) - 500n])
    voted(chain, account(1), id, 'N')
    expect([escrowOf(chain, id), balanceOf(chain, account(1))]).toEqual([0n, tokens(1000)])
  })
})

/** A chain whose hold account has so much. */
function held(amount: bigint): TestChain {
  const chain = govChain([60, 40])
  done(chain, account(9), 'transfer', { to: bytesOf(HOLD), value: amount.toString() })
  return chain
}

describe('from a hold account', () => {
  test('nothing is locked, and approval moves the amount', () => {
    const chain = held(tokens(5))
    const before = balanceOf(chain, HOLD)
    const id = proposed(chain, account(1), 'proposeTransferFund', fund(HOLD, to, tokens(5)))
    expect([escrowOf(chain, id), balanceOf(chain, HOLD), balanceOf(chain, account(1))]).toEqual([
      0n,
      before + FEE,
      tokens(1000) - FEE,
    ])
    voted(chain, account(1), id)
    voted(chain, account(2), id)
    expect([balanceOf(chain, to), balanceOf(chain, HOLD)]).toEqual([tokens(1005), before + 3n * FEE - tokens(5)])
  })

  test('the fee of the vote that approves already counts', () => {
    const chain = govChain([100])
    for (let at = 0; at < 3; at++) proposed(chain, account(1), 'proposeChangeParam', { name: 'max_vals', value: '9' })
    const first = proposed(chain, account(1), 'proposeTransferFund', fund(HOLD, to, 3n * FEE))
    const second = proposed(chain, account(1), 'proposeTransferFund', fund(HOLD, to, 4n * FEE))
    voted(chain, account(1), first)
    expect(balanceOf(chain, HOLD)).toBe(3n * FEE)
    voted(chain, account(1), second)
    expect([shown(chain, second)['Result'], balanceOf(chain, HOLD), balanceOf(chain, to)]).toEqual([
      'Approved',
      0n,
      tokens(1000) + 7n * FEE,
    ])
  })

  test('one that the balance no longer covers becomes Rejected and keeps the tally: in a vote, and in EndBlock', () => {
    const chain = held(tokens(5))
    const make = () =>
      proposed(chain, account(1), 'proposeTransferFund', fund(HOLD, to, tokens(5), { expireBlockHeight: 12 }))
    const [first, inVote, inEndBlock] = [make(), make(), make()]
    voted(chain, account(1), first)
    voted(chain, account(1), inVote)
    voted(chain, account(1), inEndBlock)
    voted(chain, account(2), first)
    const rejected = { Result: 'Rejected', ResultMsg: 'Insufficient balance', Tally: { Yes: 100, No: 0, Total: 100 } }
    const result = chain.deliver(account(2), 'vote', voteOf(inVote))
    expect(result).toMatchObject({ code: 0, gasUsed: 10 })
    expect(result.events?.[0]?.attributes).toContainEqual({ key: 'result', value: 'Rejected', index: true })
    expect(shown(chain, inVote)).toMatchObject({ ...rejected, ResultBlockHeight: chain.height })
    expect(chain.deliver(account(2), 'deactivateCandidacy').code).toBe(0)
    expect(shown(chain, inEndBlock)['Result']).toBe('')
    chain.advanceTo(12)
    expect(shown(chain, inEndBlock)).toMatchObject({
      ...rejected,
      ResultBlockHeight: 12,
      Tally: { Yes: 60, No: 0, Total: 60 },
    })
    expect(balanceOf(chain, to)).toBe(tokens(1005))
  })

  test('an earlier hold account may be named, from the block on that it was one', () => {
    const chain = held(tokens(5))
    const next = account(7)
    const send = (from: typeof HOLD) => chain.deliver(account(1), 'proposeTransferFund', fund(from, to, 1n)).log
    expect(send(next)).toMatch(/^Invalid parameter: transferFrom: /)
    const id = proposed(chain, account(1), 'proposeChangeParam', {
      name: 'hold_account',
      value: next.address.toUpperCase().replace('X', 'x'),
    })
    voted(chain, account(1), id)
    const nonce = chain.nonceOf(account(1))
    const { results } = chain.block({
      txs: [
        chain.tx(account(2), 'vote', voteOf(id)),
        chain.tx(account(1), 'proposeTransferFund', fund(next, to, 1n), nonce),
      ],
    })
    expect(results.map(({ code }) => code)).toEqual([0, 20]) // approved in this block, in force in the next
    expect([send(next), send(HOLD)]).toEqual(['', ''])
  })

  test('the hold account itself may be the target', () => {
    const chain = held(tokens(5))
    const before = balanceOf(chain, HOLD)
    const id = proposed(chain, account(1), 'proposeTransferFund', fund(HOLD, HOLD, tokens(5)))
    voted(chain, account(1), id)
    voted(chain, account(2), id)
    expect([shown(chain, id)['Result'], balanceOf(chain, HOLD)]).toEqual(['Approved', before + 3n * FEE])
  })
})

test('several proposals due in one block spend the same hold account in order, the last finds too little', () => {
  const chain = held(tokens(5))
  const ids = [3, 2, 2].map((amount) =>
    proposed(chain, account(1), 'proposeTransferFund', fund(HOLD, to, tokens(amount), { expireBlockHeight: 12 })),
  )
  for (const id of ids) voted(chain, account(1), id)
  chain.deliver(account(2), 'deactivateCandidacy')
  chain.advanceTo(12)
  expect(ids.map((id) => shown(chain, id)['Result'])).toEqual(['Approved', 'Approved', 'Rejected'])
})
