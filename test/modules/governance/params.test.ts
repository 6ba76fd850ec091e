import { describe, expect, test } from '@jest/globals'
import { PARAMETERS } from '../../../src/modules/params/definitions.ts'
import { readValue } from '../../../src/modules/params/keeper.ts'
import { account, type TestChain } from '../../support/testChain.ts'
import { changeParam, startChain } from '../support.ts'
import { change, govChain, HOLD, proposed, shown, voted, voteOf } from './support.ts'

const INTEGERS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  max_vals: [1, 200],
  inflation_rate: [0, 100],
  unstake_wait_period: [1000, 10 ** 9],
  proposal_expire_period: [1, 10 ** 6],
  declare_candidacy: [0, 10 ** 8],
  update_candidacy: [0, 10 ** 8],
  governance_proposal: [0, 10 ** 8],
  gas_price: [0, 10 ** 12],
}
const NO_INTEGERS = [
  '',
  ' 1000',
  '1000 ',
  '+1000',
  '-0',
  '-1',
  '01000',
  '1000.0',
  '1e3',
  '0x3e8',
  '1,000',
  '１000',
  'text',
  '1'.repeat(40),
]
const RATIOS: Readonly<Record<string, string | undefined>> = {
  '0': undefined,
  '0.0': undefined,
  '0.000000000000000000': undefined,
  '0.000000000000000001': '0.000000000000000001',
  '0.1': '0.1',
  '0.10': '0.1',
  '0.500000000000000000': '0.5',
  '0.999999999999999999': '0.999999999999999999',
  '1': '1',
  '1.0': '1',
  '1.000000000000000000': '1',
  '1.000000000000000001': undefined,
  '2': undefined,
  '-0.5': undefined,
  '.5': undefined,
  '0.': undefined,
  '00.5': undefined,
  '0,5': undefined,
  '5e-1': undefined,
  '0.1234567890123456789': undefined,
  '': undefined,
  ' 0.5': undefined,
  '50%': undefined,
  '1/2': undefined,
}
const upper = `0x${'AB'.repeat(20)}`
const ADDRESSES: Readonly<Record<string, string | undefined>> = {
  [upper]: upper.toLowerCase(),
  [upper.toLowerCase()]: upper.toLowerCase(),
  [`0x${'00'.repeat(20)}`]: `0x${'00'.repeat(20)}`,
  [upper.slice(2)]: undefined,
  [`${upper}0`]: undefined,
  [upper.slice(0, -1)]: undefined,
  [`0X${'ab'.repeat(20)}`]: undefined,
  '': undefined,
  [`0x${'gg'.repeat(20)}`]: undefined,
  '0': undefined,
  [` ${upper}`]: undefined,
}

/** Every parameter with a value and its canonical text; undefined: refused. */
const rows: [string, string, string | undefined][] = []
for (const [name, [min, max]] of Object.entries(INTEGERS)) {
  for (const value of [min, min + 1, max - 1, max]) rows.push([name, String(value), String(value)])
  for (const value of [min - 1, max + 1, Number.MAX_SAFE_INTEGER]) rows.push([name, String(value), undefined])
  for (const value of NO_INTEGERS) rows.push([name, value, undefined])
}
for (const name of ['self_staking_ratio', 'stake_limit']) {
  for (const [value, canonical] of Object.entries(RATIOS)) rows.push([name, value, canonical])
}
for (const [value, canonical] of Object.entries(ADDRESSES)) rows.push(['hold_account', value, canonical])

test('the table covers the 11 parameters with 200 rows and more', () => {
  expect(new Set(rows.map(([name]) => name)).size).toBe(11)
  expect(rows.length).toBeGreaterThan(200)
})

test('a parameter that there is not is named by its first 60 characters', () => {
  expect(readValue('p'.repeat(61), '1')).toEqual({
    why: expect.stringMatching(/^name: expected one of hold_account, .*, gas_price, got "p{60}"$/),
  })
})

test('each value of the table is taken with its canonical text, or refused with code 20 and a log that names it', () => {
  const chain = govChain([100])
  const wrong: unknown[] = []
  for (const [name, value, canonical] of rows) {
    const read = readValue(name, value)
    const { code, log = '' } = chain.check(chain.tx(account(1), 'proposeChangeParam', { name, value }))
    if (code === 0) chain.block() // the check state begins anew
    const isRight =
      canonical === undefined
        ? code === 20 && log.startsWith(`Invalid parameter: value of ${name}: expected `) && 'why' in read
        : code === 0 && 'text' in read && read.text === canonical
    if (!isRight) wrong.push({ name, value, canonical, read, code, log })
  }
  expect(wrong).toEqual([])
})

test('an approved value is in force from the next block on, and getParams tells what was in force at each height', () => {
  const chain = govChain([100], { self_staking_ratio: '0.25' })
  const id = proposed(chain, account(1), 'proposeChangeParam', {
    name: 'self_staking_ratio',
    value: '0.50',
    reason: 'why',
  })
  voted(chain, account(1), id)
  const approved = chain.height
  const at = (height: number): unknown =>
    (chain.query('/governance/params', height) as Record<string, unknown>)['self_staking_ratio']
  expect(at(0)).toBe('0.25')
  chain.block()
  expect([at(1), at(approved - 1), at(approved), at(approved + 1), at(0)]).toEqual([
    '0.25',
    '0.25',
    '0.25',
    '0.5',
    '0.5',
  ])
  // The row holds the canonical text, Detail what was sent.
  expect(shown(chain, id).Detail).toMatchObject({ name: 'self_staking_ratio', value: '0.50', reason: 'why' })
  for (const height of [approved + 2, -1]) {
    expect(chain.abciQuery('/governance/params', height)).toMatchObject({
      code: 20,
      log: `Invalid parameter: height: expected 0 to the head ${approved + 1}, got ${height}`,
    })
  }
})

test('of two approvals in one block the later wins, an approval in EndBlock over one in a vote', () => {
  const chain = govChain([60, 40])
  const make = (value: string, extra: object): string =>
    proposed(chain, account(1), 'proposeChangeParam', change({ value, ...extra }))
  const due = chain.height + 10
  // Both get a Y of 60 of 100; what lacks for two thirds comes when validator 2 leaves the set.
  const atPoint = make('11', { expireBlockHeight: due })
  const byVote1 = make('12', {})
  const byVote2 = make('13', {})
  for (const id of [byVote1, byVote2]) voted(chain, account(1), id)
  voted(chain, account(1), atPoint)
  expect(chain.deliver(account(2), 'deactivateCandidacy').code).toBe(0)
  while (chain.height < due - 1) chain.block()
  const nonce = chain.nonceOf(account(1))
  const txs = [byVote2, byVote1].map((id, at) => chain.tx(account(1), 'vote', voteOf(id), nonce + at))
  const { results, response } = chain.block({ txs })
  expect(results.map(({ code }) => code)).toEqual([0, 0])
  expect(response.events).toContainEqual({
    type: 'svc.governance.resolved',
    attributes: [
      { key: 'proposal_id', value: atPoint, index: true },
      { key: 'result', value: 'Approved', index: true },
    ],
  })
  chain.block()
  expect(chain.query('/governance/params')).toMatchObject({ max_vals: 11 })
})

test('the later of two votes that approve wins in one block', () => {
  const chain = govChain([100])
  const [first, second] = ['12', '13'].map((value) =>
    proposed(chain, account(1), 'proposeChangeParam', change({ value })),
  ) as [string, string]
  const nonce = chain.nonceOf(account(1))
  chain.block({ txs: [second, first].map((id, at) => chain.tx(account(1), 'vote', voteOf(id), nonce + at)) })
  chain.block()
  expect(chain.query('/governance/params')).toMatchObject({ max_vals: 12 })
})

test('a new fee and hold account count from the next block: the approving vote still pays as before', () => {
  const chain = govChain([100])
  const holder = `0x${'12'.repeat(20)}`
  const id = proposed(chain, account(1), 'proposeChangeParam', { name: 'hold_account', value: holder })
  voted(chain, account(1), id)
  const held = (address: string): string => (chain.query(`/accounts/${address}`) as { balance: string }).balance
  expect([held(HOLD.address), held(holder)]).toEqual(['20', '0'])
  proposed(chain, account(1), 'proposeChangeParam', change())
  expect([held(HOLD.address), held(holder)]).toEqual(['20', '10'])
})

describe('the history of the parameters', () => {
  const history = (chain: TestChain, search = '') =>
    chain.query(`/governance/params-history${search}`) as { height_in_force: number; name: string; value: string }[]

  test('has every value, the newest first, and that of a block just decided before it is in force', () => {
    const chain = startChain([1000])
    const genesis = history(chain)
    expect(genesis.map(({ name }) => name).sort()).toEqual([...PARAMETERS.keys()].sort())
    expect(genesis.every(({ height_in_force }) => height_in_force === 0)).toBe(true)
    changeParam(chain, 'max_vals', '7')
    changeParam(chain, 'stake_limit', '0.50')
    const [first, second] = [4, 6]
    expect(chain.height).toBe(5)
    expect(history(chain)).toEqual([
      { height_in_force: second, name: 'stake_limit', value: '0.5' },
      { height_in_force: first, name: 'max_vals', value: '7' },
      ...genesis,
    ])
    expect(history(chain, '?limit=1&offset=1')).toEqual([{ height_in_force: first, name: 'max_vals', value: '7' }])
  })
})
