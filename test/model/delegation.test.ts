import { expect, test } from '@jest/globals'
import {
  awardDelegators,
  closePool,
  delegationOperations,
  ownPart,
  payBatches,
  rateInForce,
  setCompRate,
  slashDelegations,
} from './protocol/delegation.ts'
import { queryDelegator } from './protocol/queries.ts'
import { createState } from './protocol/genesis.ts'
import type { Operation } from './protocol/operation.ts'
import { blockAt, type Candidacy, type Event, pay, type State, supplyGap } from './protocol/state.ts'
import { TOKEN } from './protocol/values.ts'
import type { Message } from './protocol/wire.ts'

// The model itself, by examples that were worked out by hand from the text. `make model` holds it against the application.

const addressOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`
const [OWNER, ALICE, BOB] = [1, 2, 3].map(addressOf) as [string, string, string]

/** A chain of one candidacy with 10 tokens of its own, and accounts with 1,000 tokens each. */
function start(delegations: readonly { delegator: string; amount: string }[] = [], wait = 10): State {
  const shares = 10n * TOKEN + delegations.reduce((all, { amount }) => all + BigInt(amount), 0n)
  return createState(
    {
      chainId: 'model',
      evidenceMaxBytes: 0,
      appState: {
        accounts: [OWNER, ALICE, BOB].map((address) => ({ address, balance: String(1_000n * TOKEN) })),
        params: { gas_price: 0, unstake_wait_period: wait },
        candidacies: [
          {
            owner: OWNER,
            pub_key: Buffer.alloc(32, 1).toString('base64'),
            shares: String(shares),
            max_shares: String(1_000n * TOKEN),
            comp_rate: '0.25',
            delegations,
          },
        ],
      },
    },
    blockAt(1, 1_000),
  )
}

const candidacyOf = (state: State): Candidacy => state.candidacies[0] as Candidacy

function run(state: State, operation: string, sender: string, fields: Message, height = 1): string {
  const { run: execute } = delegationOperations[operation] as Operation
  const message = { validatorAddress: OWNER.slice(2), ...fields }
  const call = { state, block: blockAt(height, 1_000), place: 0, hash: '', sender, message, fee: 0n, isCheck: false }
  try {
    return JSON.stringify(execute(call).ids?.['amount'])
  } catch (thrown) {
    return (thrown as Error).message
  } finally {
    expect(supplyGap(state)).toBe(0n)
  }
}

const tokens = (count: number): string => String(BigInt(count) * TOKEN)

test('delegations are refused in the order of the table', () => {
  const state = start()
  const given = (sender: string, fields: Message): string => run(state, 'delegate', sender, fields)
  expect(given(ALICE, { validatorAddress: BOB.slice(2), amount: '0' })).toMatch(/^Validator does not exist/)
  expect(given(OWNER, { amount: '0' })).toBe('Bad request')
  expect(given(ALICE, { amount: String(TOKEN - 1n) })).toBe('Invalid parameter: amount: ')
  expect(given(ALICE, { amount: tokens(991) })).toBe('Validator has reached its max amount')
  pay(state, ALICE, -TOKEN)
  state.totals.burned += TOKEN
  expect(given(ALICE, { amount: tokens(990) })).toBe(`"${tokens(990)}"`)
  expect(given(BOB, { amount: tokens(1) })).toBe('Validator has reached its max amount')
})

test('withdrawals are refused in the order of the table, and one of everything always works', () => {
  const state = start([{ delegator: ALICE, amount: tokens(3) }])
  const given = (sender: string, fields: Message): string => run(state, 'withdraw', sender, fields)
  expect(given(ALICE, {})).toBe('Invalid parameter: amount or completelyWithdraw')
  expect(given(ALICE, { completelyWithdraw: 'N' })).toBe('Invalid parameter: amount or completelyWithdraw')
  expect(given(ALICE, { amount: '1', completelyWithdraw: 'Y' })).toBe('Invalid parameter: amount or completelyWithdraw')
  expect(given(ALICE, { validatorAddress: BOB.slice(2), amount: '0' })).toMatch(/^Validator does not exist/)
  expect(given(BOB, { amount: '0' })).toBe('No delegation')
  expect(given(ALICE, { amount: '0' })).toBe('Invalid withdrawal amount')
  expect(given(ALICE, { amount: String(3n * TOKEN + 1n) })).toBe('Invalid withdrawal amount')
  expect(given(ALICE, { amount: tokens(1), completelyWithdraw: 'N' })).toBe(`"${tokens(1)}"`)
  expect(given(ALICE, { amount: tokens(1) })).toBe(`"${tokens(1)}"`)
  // What stays is at least 1 token, or nothing.
  expect(given(ALICE, { amount: '1' })).toBe(`"${tokens(1)}"`)
  expect(given(ALICE, { completelyWithdraw: 'Y' })).toBe('No delegation')
  expect(state.batches).toMatchObject([{ number: 1, amount: 3n * TOKEN, heightMade: 1, heightPaid: 11, closed: false }])
})

test('units: who comes in rounds down, who leaves rounds up', () => {
  const state = start([{ delegator: ALICE, amount: tokens(3) }])
  const candidacy = candidacyOf(state)
  // 10^18 units stay 3 × 10^18; the pool is worth a third more.
  candidacy.delegated += TOKEN
  candidacy.shares += TOKEN
  state.totals.minted += TOKEN
  expect(run(state, 'delegate', BOB, { amount: String(TOKEN + 1n) })).toBe(`"${TOKEN + 1n}"`)
  // floor((10^18 + 1) × 3 / 4), worth floor(750000000000000000 × D / U): one unit stays with the pool.
  expect(state.delegations[1]).toMatchObject({ delegator: BOB, units: 750_000_000_000_000_000n })
  expect(queryDelegator(state, BOB)).toMatchObject([
    { shares: String(TOKEN), award_amount: '0', slash_amount: '1', pending: [] },
  ])
  expect(run(state, 'withdraw', ALICE, { amount: '2' })).toBe('"2"')
  // ceil(2 × 3 / 4) = 2
  expect(state.delegations[0]).toMatchObject({ units: 3n * TOKEN - 2n, withdrawAmount: 2n })
})

test('batches: a 64th of the period is one step, and the last claim takes the rest', () => {
  const state = start(
    [
      { delegator: ALICE, amount: tokens(3) },
      { delegator: BOB, amount: tokens(3) },
    ],
    65,
  )
  expect(run(state, 'withdraw', ALICE, { amount: '10' }, 1)).toBe('"10"')
  expect(run(state, 'withdraw', BOB, { amount: '5' }, 2)).toBe('"5"')
  expect(run(state, 'withdraw', BOB, { amount: '5' }, 3)).toBe('"5"')
  expect(state.batches).toMatchObject([
    { number: 1, amount: 15n, units: 15n, heightMade: 2, heightPaid: 67 },
    { number: 2, amount: 5n, units: 5n, heightMade: 4, heightPaid: 69 },
  ])
  // An offence at height 4 cuts what was made at 3 or later: the second batch.
  const burn = (amount: bigint): bigint => {
    const burned = amount / 10n
    state.totals.burned += burned
    return amount - burned
  }
  const offence = { id: 1, candidacy: candidacyOf(state), offence: 4 }
  slashDelegations(state, blockAt(4, 1_000), offence, burn)
  expect(state.batches.map(({ amount, closed }) => [amount, closed])).toEqual([
    [15n, false],
    [5n, true],
  ])
  slashDelegations(state, blockAt(4, 1_000), { ...offence, offence: 3 }, burn)
  expect(state.batches.map(({ amount, closed }) => [amount, closed])).toEqual([
    [14n, true],
    [5n, true],
  ])
  const events: Event[] = []
  payBatches(state, blockAt(66, 1_000), events)
  expect(events).toEqual([])
  payBatches(state, blockAt(67, 1_000), events)
  // floor(10 × 14 / 15) = 9, and the rest.
  expect(events).toEqual([
    ['svc.stake.unbonded', { owner: ALICE, amount: '9' }],
    ['svc.stake.unbonded', { owner: BOB, amount: '5' }],
  ])
  expect([state.batches.length, state.claims.length, supplyGap(state)]).toEqual([1, 1, 0n])
})

test('the end of a candidacy is one closing batch, of which 256 delegations are paid a block', () => {
  const delegations = Array.from({ length: 300 }, (_, at) => ({ delegator: addressOf(100 + at), amount: tokens(1) }))
  const state = start(delegations)
  const candidacy = candidacyOf(state)
  closePool(state, blockAt(5, 1_000), candidacy)
  candidacy.shares = ownPart({ ...candidacy, delegated: 300n * TOKEN })
  expect(candidacy).toMatchObject({ delegated: 0n, delegationUnits: 0n, delegators: 0, pool: 1, shares: 10n * TOKEN })
  expect(state.batches).toMatchObject([{ number: 1, pool: 1, closed: true, heightMade: 5, heightPaid: 15 }])
  const first = addressOf(100)
  expect(run(state, 'withdraw', first, { completelyWithdraw: 'Y' })).toBe('No delegation')
  expect(queryDelegator(state, first)).toMatchObject([
    { shares: '0', pending: [{ amount: String(TOKEN), completion_height: 15 }] },
  ])
  const events: Event[] = []
  payBatches(state, blockAt(15, 1_000), events)
  expect([events.length, state.delegations.length]).toEqual([256, 44])
  payBatches(state, blockAt(16, 1_000), events)
  expect([events.length, state.delegations, state.batches, supplyGap(state)]).toEqual([300, [], [], 0n])
})

test('a slash of everything ends the pool, and who was in it can remove the row', () => {
  const state = start([{ delegator: ALICE, amount: tokens(3) }])
  const candidacy = candidacyOf(state)
  slashDelegations(state, blockAt(5, 1_000), { id: 1, candidacy, offence: 5 }, (amount) => {
    state.totals.burned += amount
    return 0n
  })
  expect(candidacy).toMatchObject({ delegated: 0n, delegationUnits: 0n, delegators: 0, pool: 1, shares: 10n * TOKEN })
  expect(queryDelegator(state, ALICE)).toMatchObject([
    { shares: '0', award_amount: '0', slash_amount: String(3n * TOKEN) },
  ])
  expect(run(state, 'withdraw', ALICE, { amount: '1' })).toBe('No delegation')
  expect(run(state, 'withdraw', ALICE, { completelyWithdraw: 'Y' })).toBe('"0"')
  expect([state.delegations, state.batches]).toEqual([[], []])
})

test('an award adds to the pool what the commission leaves, and a raise of it waits', () => {
  const state = start([{ delegator: ALICE, amount: tokens(30) }])
  const candidacy = candidacyOf(state)
  // Three quarters of the shares, of which a quarter stays: floor(100 × 30 × 0.75 / 40).
  expect(awardDelegators(candidacy, blockAt(2, 1_000), 100n)).toBe(100n - 56n)
  expect(candidacy).toMatchObject({ delegated: 30n * TOKEN + 56n, shares: 40n * TOKEN + 56n })
  setCompRate(state, blockAt(2, 1_000), candidacy, TOKEN)
  expect([11, 12].map((height) => rateInForce(candidacy, height))).toEqual([TOKEN / 4n, TOKEN])
  setCompRate(state, blockAt(3, 1_000), candidacy, TOKEN / 5n)
  expect(candidacy).toMatchObject({ compRate: TOKEN / 5n, nextCompRate: 0n, nextCompRateHeight: 0 })
})
