import './browser.ts'
import { describe, expect, test } from '@jest/globals'
import examples from '../../src/gateway/rpc/examples.json' with { type: 'json' }
import { pageOf, sentenceOf, type TxRequest } from '../../src/dashboard/operations/index.ts'
import type { Facts, Stake } from '../../src/dashboard/wallet/facts.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { TOKEN } from '../../src/base/amount.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const [me, other] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]

const record = {
  pub_key: { type: 'tendermint/PubKeyEd25519', value: KEY },
  owner_address: me,
  shares: String(1000n * TOKEN),
  voting_power: 1000,
  max_shares: String(10_000n * TOKEN),
  comp_rate: '0.5',
  created_at: '',
  updated_at: '',
  description: { name: '', website: '', location: '', email: '', profile: '' },
  verified: 'N',
  active: 'Y',
  block_height: 1,
  rank: 0,
  state: 'Validator',
} as NonNullable<Facts['candidacy']>['record']

const proposal = {
  Id: KEY,
  Type: 'change_param',
  Number: 3,
  Detail: { name: 'max_vals', value: '7', reason: 'more' },
} as unknown as NonNullable<Facts['proposal']>

const stake: Stake = {
  self_shares: record.shares,
  delegated_shares: '0',
  delegators: 0,
  room: String(9000n * TOKEN),
  comp_rate: '0.5',
  next_comp_rate: null,
  next_comp_rate_height: null,
  pending: '0',
}

const facts: Facts = {
  from: me,
  params: {
    max_vals: 4,
    self_staking_ratio: '0.1',
    inflation_rate: 8,
    unstake_wait_period: 60480,
    proposal_expire_period: 100,
  } as Facts['params'],
  defaultMaxAmount: 10_000n * TOKEN,
  candidacy: { record, stake, unbonding: 0n },
  proposal,
  handOver: { owner: other, stake },
}

const files = { fileUrl: '{"ubuntu":["https://a"],"centos":["https://b"]}', md5: '{}' }

/** What operations say and take: [input, words, taken]. */
const SAID: Readonly<Record<string, readonly (readonly [object, string, bigint?])[]>> = {
  declareCandidacy: [
    [{ pubKey: KEY }, `Declare a candidacy for the key ${KEY}, staking 1,000 token.`, 1000n * TOKEN],
    [
      { pubKey: KEY, maxAmount: '15' },
      `Declare a candidacy for the key ${KEY}, staking 0.000000000000000002 token.`,
      2n,
    ],
  ],
  updateCandidacy: [
    [{}, 'Update your candidacy without a change.'],
    [
      { description: { name: 'a', website: 'b' }, compRate: '0.2' },
      'Change your candidacy: its name and website change, so that it is no longer verified and its commission becomes 20 %.',
    ],
    [
      { maxAmount: String(20_000n * TOKEN) },
      'Change your candidacy: it may hold at most 20,000 token and you stake 1,000 token more.',
      1000n * TOKEN,
    ],
    [{ maxAmount: String(5_000n * TOKEN) }, 'Change your candidacy: it may hold at most 5,000 token.'],
  ],
  withdrawCandidacy: [[{}, 'End your candidacy with 1,000 token of shares. They are paid out after 60,480 blocks.']],
  activateCandidacy: [[{}, 'Activate your candidacy again.']],
  deactivateCandidacy: [
    [{}, 'Deactivate your candidacy. Its shares stay, and it earns nothing until you activate it again.'],
  ],
  updateCandidacyAccount: [
    [
      { newCandidateAccount: other },
      `Offer your candidacy with 1,000 token of shares to ${other}, who has to accept it and pays you for the shares.`,
    ],
  ],
  acceptCandidacyAccountUpdate: [
    [
      { accountUpdateRequestId: 1 },
      `Take over the candidacy of ${other} and pay them 1,000 token for its shares.`,
      1000n * TOKEN,
    ],
  ],
  verifyCandidacy: [
    [{ candidateAddress: other, verified: 'Y' }, `Mark the candidacy of ${other} as verified.`],
    [{ candidateAddress: other, verified: 'N' }, `Mark the candidacy of ${other} as not verified.`],
  ],
  delegate: [
    [{ validatorAddress: other, amount: String(3n * TOKEN) }, `Stake 3 token with the validator ${other}.`, 3n * TOKEN],
  ],
  withdraw: [
    [
      { validatorAddress: other, amount: '5' },
      `Take 0.000000000000000005 token of your stake back from the validator ${other}. It is paid out after about 60,480 blocks.`,
    ],
    [
      { validatorAddress: other, completelyWithdraw: 'Y' },
      `Take your whole stake back from the validator ${other}. It is paid out after about 60,480 blocks.`,
    ],
  ],
  proposeChangeParam: [
    [{ name: 'max_vals', value: '7' }, 'Propose to set max_vals from 4 to 7.'],
    [
      { name: 'self_staking_ratio', value: '0.25' },
      'Propose to set self_staking_ratio from 0.1 (10 %) to 0.25 (25 %).',
    ],
    [{ name: 'inflation_rate', value: '11' }, 'Propose to set inflation_rate from 8 % to 11 %.'],
  ],
  proposeDeployLibEni: [
    [{ name: 'lib', version: 'v1.2.3', ...files }, 'Propose to deploy the library lib v1.2.3 on ubuntu and centos.'],
  ],
  proposeRetireProgram: [
    [
      { preservedValidators: `${KEY},${KEY}` },
      'Propose to retire the program, preserve 2 validators and deactivate all others.',
    ],
  ],
  proposeUpgradeProgram: [
    [
      { name: 'svcd', version: 'v2.0.0', ...files },
      'Propose to upgrade the program to svcd v2.0.0, which this chain always refuses.',
    ],
  ],
  proposeTransferFund: [
    [
      { transferFrom: me.toUpperCase().replace('0X', '0x'), transferTo: other, amount: '5' },
      `Propose to pay 0.000000000000000005 token from ${me.toUpperCase().replace('0X', '0x')} to ${other}.`,
      5n,
    ],
    [{ transferFrom: other, transferTo: me, amount: String(TOKEN) }, `Propose to pay 1 token from ${other} to ${me}.`],
  ],
  vote: [
    [
      { proposalId: KEY, answer: 'Y' },
      'Vote yes on the proposal #3, BwcHBwcH…cHBwc=, which sets max_vals from 4 to 7.',
    ],
    [{ proposalId: KEY, answer: 'N' }, 'Vote no on the proposal #3, BwcHBwcH…cHBwc=, which sets max_vals from 4 to 7.'],
  ],
  transfer: [[{ to: other, value: String(3n * TOKEN) }, `Send 3 token to ${other}.`, 3n * TOKEN]],
}

const cases = Object.entries(SAID).flatMap(([operation, all]) =>
  all.map(([input, words, units]) => ({ request: { operation, input } as unknown as TxRequest, words, units })),
)

/** What a request takes from the balance, in base units. */
const takenBy = (request: TxRequest, of = facts) => pageOf(request).outflow?.(request.input, of)?.units

// test/gateway/openrpc.test.ts demands an example of each.
const recorded = Object.entries(examples).flatMap(([name, { params }]) =>
  txEntries.flatMap(({ operation, method }) => (method === name ? [{ operation, params: params as object }] : [])),
)

test.each(recorded)('$operation: the recorded example is a sentence', ({ operation, params: input }) => {
  const request = { operation, input } as unknown as TxRequest
  expect(sentenceOf(request, facts)).toMatch(/^[A-Z](?!.*(?:undefined|null|NaN|\[object)).*\.$/)
  expect(takenBy(request)).not.toBe(0n)
})

test.each(cases)('$request.operation: $words', ({ request, words, units }) => {
  expect(sentenceOf(request, facts)).toBe(words)
  expect(takenBy(request)).toBe(units)
})

describe('a candidacy with which others have staked', () => {
  const shared = { ...stake, self_shares: String(600n * TOKEN), delegated_shares: String(400n * TOKEN), delegators: 2 }
  const with2: Facts = {
    ...facts,
    candidacy: { record, stake: shared, unbonding: 0n },
    handOver: { owner: other, stake: shared },
  }

  const said: readonly { readonly request: object; readonly words: string; readonly units?: bigint }[] = [
    {
      request: { operation: 'updateCandidacy', input: { maxAmount: String(8_000n * TOKEN) } },
      words: 'Change your candidacy: it may hold at most 8,000 token and you stake 200 token more.',
      units: 200n * TOKEN,
    },
    {
      request: { operation: 'updateCandidacy', input: { compRate: '0.6' } },
      words: 'Change your candidacy: its commission becomes 60 % in 60,480 blocks.',
    },
    {
      request: { operation: 'updateCandidacy', input: { compRate: '0.5' } },
      words: 'Change your candidacy: its commission becomes 50 %.',
    },
    {
      request: { operation: 'withdrawCandidacy', input: {} },
      words:
        'End your candidacy with 600 token of your own shares. They are paid out after 60,480 blocks, ' +
        'and so are the 400 token that 2 accounts have staked with it.',
    },
    {
      request: { operation: 'updateCandidacyAccount', input: { newCandidateAccount: other } },
      words: `Offer your candidacy with 600 token of your own shares to ${other}, who has to accept it and pays you for the shares.`,
    },
    {
      request: { operation: 'acceptCandidacyAccountUpdate', input: { accountUpdateRequestId: 1 } },
      words: `Take over the candidacy of ${other} and pay them 600 token for their own shares. What others have staked with it stays.`,
      units: 600n * TOKEN,
    },
  ]

  test.each(said)('$words', ({ request, words, units }) => {
    expect(sentenceOf(request as TxRequest, with2)).toBe(words)
    expect(takenBy(request as TxRequest, with2)).toBe(units)
  })
})

test('marks that are not seen become one that is', () => {
  const input = { name: 'max_vals', value: '7\u202E.9 ot' }
  expect(sentenceOf({ operation: 'proposeChangeParam', input }, facts)).toMatch(/ to 7\[U\+202E\]\.9 ot\.$/)
})

describe('a candidacy that comes back', () => {
  const activate = { operation: 'activateCandidacy', input: {} } as const
  const withdrawn = { ...record, state: 'Withdrawn', shares: '0' } as typeof record

  test('adds to what still unbonds what the self-stake lacks', () => {
    const back = { ...facts, candidacy: { record: withdrawn, stake, unbonding: 400n * TOKEN } }
    expect(takenBy(activate, back)).toBe(600n * TOKEN)
    expect(sentenceOf(activate, back)).toBe('Activate your candidacy again, staking 600 token.')
  })

  test('adds nothing when more unbonds than the self-stake', () => {
    const back = { ...facts, candidacy: { record: withdrawn, stake, unbonding: 1001n * TOKEN } }
    expect(takenBy(activate, back)).toBeUndefined()
  })
})

test.each([
  ['transfer_fund', { amount: String(TOKEN), from: me, to: other }, `pays 1 token from ${me} to ${other}`],
  ['deploy_libeni', { name: 'lib', version: 'v1.0.0' }, 'deploys the library lib v1.0.0'],
  ['retire_program', { preserved_validators: KEY }, 'retires the program and preserves 1 validator'],
])('a vote on a proposal of the type %s says what it does', (Type, Detail, words) => {
  const request = { operation: 'vote', input: { proposalId: KEY, answer: 'Y' } } as const
  const of = { ...proposal, Type, Detail } as unknown as NonNullable<Facts['proposal']>
  expect(sentenceOf(request, { ...facts, proposal: of })).toContain(`, which ${words}.`)
})

const requestOf = (operation: string, input: object): TxRequest => ({ operation, input }) as unknown as TxRequest

test.each([
  ['proposeChangeParam', {}, { name: 'Open until', blocks: 100 }],
  ['proposeChangeParam', { expireBlockHeight: '70' }, { name: 'Open until', height: 70 }],
  ['proposeTransferFund', { expireTimestamp: 1_900_000_000 }, { name: 'Open until', time: 1_900_000_000 }],
  ['proposeDeployLibEni', { deployTimestamp: '1900000000' }, { name: 'Carried out', time: 1_900_000_000 }],
  ['proposeRetireProgram', { retiredBlockHeight: '90' }, { name: 'Carried out', height: 90 }],
  ['withdrawCandidacy', {}, { name: 'Paid out', blocks: 60480 }],
  ['withdraw', {}, { name: 'Paid out', blocks: 60480 }],
  ['transfer', {}, undefined],
])('%s with %j says when it comes about', (operation, input, due) => {
  const request = requestOf(operation, input)
  expect(pageOf(request).due?.(request.input, facts)).toEqual(due)
})

test.each([
  [{ ExpireBlockHeight: 500 }, { height: 500, time: undefined }],
  [
    { ExpireBlockHeight: 0, ExpireTimestamp: 1_900_000_000 },
    { height: undefined, time: 1_900_000_000 },
  ],
])('a vote on a proposal with %j says when voting ends', (end, due) => {
  const of = { ...facts, proposal: { ...proposal, ...end } as typeof proposal }
  const request = requestOf('vote', { proposalId: KEY, answer: 'Y' })
  expect(pageOf(request).due?.(request.input, of)).toEqual({ name: 'Voting ends', ...due })
})

test('an end of a validator and of the program warn, and so does a vote for the latter', () => {
  const retiring = { ...facts, proposal: { ...proposal, Type: 'retire_program' } as typeof proposal }
  const warned = (operation: string, of = facts, input = {}) => {
    const request = requestOf(operation, input)
    return pageOf(request).warning?.(request.input, of) !== undefined
  }
  expect(warned('withdrawCandidacy')).toBe(true)
  expect(warned('proposeRetireProgram')).toBe(true)
  expect(warned('vote', retiring, { answer: 'Y' })).toBe(true)
  expect(warned('vote', retiring, { answer: 'N' })).toBe(false)
  expect(warned('vote', facts, { answer: 'Y' })).toBe(false)
  expect(warned('deactivateCandidacy')).toBe(false)
})
