/** Who may propose and vote, and what their votes count for. */
import { drawn, textOf } from './fakeDom.ts'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { h } from 'preact'
import { until } from '../../bench/until.ts'
import { svc } from '../../src/dashboard/data/gateway.ts'
import { Ballots } from '../../src/dashboard/pages/account/Ballots.tsx'
import { Votes } from '../../src/dashboard/pages/proposals/Votes.tsx'
import { useVoters } from '../../src/dashboard/pages/proposals/WhoMay.tsx'
import { LargeTally } from '../../src/dashboard/parts/TallyBar.tsx'

const [alice, bob] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]

const member = (owner: string, power: number, proven = true) => ({
  pub_key: { type: 'ed25519', value: `${owner}/${power}` },
  owner_address: owner,
  power,
  proven,
})

// Alice changes her key, and Bob joins.
const SET = [member(alice, 90), member(alice, 1, false), member(bob, 1, false)]

beforeEach(() => {
  // What the tests do not answer fails.
  Object.assign(globalThis, { fetch: () => Promise.reject(new Error('away')) })
  jest.spyOn(svc.async.stake.validator, 'queryValidatorSet').mockResolvedValue({ height: 9, data: SET })
})
afterEach(() => void jest.restoreAllMocks())

test('a validator that joins may vote and not yet propose, and one with two keys is named once', async () => {
  const Voters = () => JSON.stringify([useVoters(), useVoters(true)])
  const { text, end } = drawn(h(Voters, {}))
  await until(() => text() !== '[null,null]', 20_000, 'the set is not known')
  expect(JSON.parse(text())).toEqual([[alice, bob], [alice]])
  end()
})

test('the vote of a validator with two keys counts for the power of both', async () => {
  const vote = { Voter: alice, Owner: alice, Answer: 'Y', BlockHeight: 3 }
  const { text, end } = drawn(h(Votes, { proposal: { Result: '', Votes: [vote] } as never }))
  await until(
    () => text().includes('98.91 %'),
    20_000,
    () => text(),
  )
  expect(text()).toMatch(/Yes39198\.91 %.*Not voted11\.09 %/)
  end()
})

test('a vote in a gap of what the page hears is asked for', async () => {
  const proposal = {
    Id: 'one',
    Type: 'change_param',
    Detail: { name: 'max_vals', value: '7', reason: '' },
    Result: 'Approved',
  }
  const { governance } = svc.async
  jest.spyOn(governance, 'listProposals').mockResolvedValue({ data: [proposal], total: 1 } as never)
  const find = jest.spyOn(governance, 'queryProposal').mockResolvedValue({ data: { Votes: [] } } as never)
  const subscribe = jest.spyOn(svc, 'subscribe').mockResolvedValue({ unsubscribe: () => {} })
  const { text, end } = drawn(h(Ballots, { address: bob }))
  const shows = (answer: string): Promise<true> =>
    until(
      () => text().includes(answer),
      20_000,
      () => text(),
    )
  await shows('no vote')
  find.mockResolvedValue({ data: { Votes: [{ Voter: bob, Owner: bob, Answer: 'Y', BlockHeight: 40 }] } } as never)
  for (const [, options] of subscribe.mock.calls)
    if ('onState' in options) options.onState?.({ state: 'gap', from: 3, to: 150 })
  await shows('yes')
  end()
})

test.each([
  [{ Yes: 66, No: 0, Total: 100 }, '1 more power for it approves it, and 67 more against it rejects it.'],
  [{ Yes: 67, No: 0, Total: 100 }, 'Two thirds are for it: the next vote, or its end, decides it.'],
  [{ Yes: 20, No: 70, Total: 100 }, 'Two thirds are against it: the next vote, or its end, decides it.'],
  [{ Yes: 0, No: 0, Total: 0 }, 'Nobody has voting power: nothing is decided.'],
])('a tally %j of an open proposal says what is missing', (tally, words) => {
  expect(textOf(h(LargeTally, { tally, isFinal: false }))).toContain(`. ${words}`)
})
