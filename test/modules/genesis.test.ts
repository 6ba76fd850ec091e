import { NO_POOL } from '../support/noPool.ts'
import { describe, expect, test } from '@jest/globals'
import { toBase64 } from '../../src/base/bytes.ts'
import { GenesisError } from '../../src/modules/genesis.ts'
import { getChain, getTotals } from '../../src/modules/chain/keeper.ts'
import { account, CHAIN_ID, GENESIS_TIME, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { balanceOf, key, recordOf } from './support.ts'

type Json = Record<string, unknown>
const one = {
  owner: account(1).address,
  pub_key: toBase64(nodeKey(1)),
  shares: String(tokens(5)),
  max_shares: String(tokens(50)),
}
const two = { ...one, owner: account(2).address, pub_key: toBase64(nodeKey(2)) }
const base = { accounts: [{ address: account(1).address, balance: '7' }], candidacies: [one] }
/** In the interface's order. */
const DEFAULTS = {
  hold_account: `0x${'f'.repeat(40)}`,
  max_vals: 4,
  self_staking_ratio: '0.1',
  inflation_rate: 8,
  stake_limit: '0.12',
  unstake_wait_period: 60480,
  proposal_expire_period: 60480,
  declare_candidacy: 1_000_000,
  update_candidacy: 1_000_000,
  governance_proposal: 2_000_000,
  gas_price: 2_000_000_000,
}

function start(genesis: object): TestChain {
  const chain = new TestChain()
  chain.init(genesis)
  chain.block()
  return chain
}

describe('genesis', () => {
  test('parameters and stake constants left out, or null, have their defaults', () => {
    for (const genesis of [
      base,
      { ...base, params: null, stake: null },
      { ...base, params: { max_vals: null }, stake: { slash_ratio: null, default_max_amount: null } },
    ]) {
      const chain = start(genesis)
      const params = chain.query('/governance/params') as Json
      expect(params).toEqual(DEFAULTS)
      expect(Object.keys(params)).toEqual(Object.keys(DEFAULTS))
      expect(getChain(chain.store)).toMatchObject({
        chainId: CHAIN_ID,
        initialHeight: 1,
        evidenceMaxBytes: 100_000,
        defaultMaxAmount: tokens(10_000),
        defaultCompRate: 5n * 10n ** 17n,
        foundationAddress: '',
        maxAbsentBlocks: 120,
        slashRatio: 5n * 10n ** 16n,
      })
    }
  })

  test('parameters are held in their canonical text', () => {
    const params = {
      hold_account: `0x${'AB'.repeat(20)}`,
      self_staking_ratio: '0.500',
      stake_limit: '1.0',
      unstake_wait_period: 1,
    }
    expect(start({ ...base, params }).query('/governance/params')).toEqual({
      ...DEFAULTS,
      hold_account: `0x${'ab'.repeat(20)}`,
      self_staking_ratio: '0.5',
      stake_limit: '1',
      unstake_wait_period: 1,
    })
  })

  test('candidacies have their ids in the order listed, block_height 0, and the genesis time', () => {
    const chain = start({
      ...base,
      params: { inflation_rate: 0 },
      stake: { default_comp_rate: '0.3' },
      candidacies: [two, { ...one, comp_rate: '0.25', description: { name: 'n', profile: 'p' } }],
    })
    expect(recordOf(chain, account(1))).toEqual({
      id: 2,
      pubKey: key(1),
      ownerAddress: account(1).address,
      shares: tokens(5),
      maxShares: tokens(50),
      compRate: 25n * 10n ** 16n,
      name: 'n',
      website: '',
      location: '',
      email: '',
      profile: 'p',
      verified: false,
      active: true,
      withdrawn: false,
      blockHeight: 0,
      createdAt: GENESIS_TIME,
      updatedAt: GENESIS_TIME,
      ...NO_POOL,
    })
    expect(recordOf(chain, account(2))).toMatchObject({ id: 1, compRate: 3n * 10n ** 17n })
  })

  test('shares are beside the balances, and supply is the sum', () => {
    const chain = start({ ...base, params: { inflation_rate: 0 } })
    expect([balanceOf(chain, account(1)), getTotals(chain.store)]).toEqual([
      7n,
      { genesisSupply: tokens(5) + 7n, minted: 0n, burned: 0n },
    ])
  })

  test('an amount may be decimal text, 0x-hex text or a safe integer', () => {
    const accounts = ['16', '0x10', 16].map((balance, at) => ({ address: account(at + 1).address, balance }))
    const chain = start({ ...base, accounts })
    expect([1, 2, 3].map((at) => balanceOf(chain, account(at)))).toEqual([16n, 16n, 16n])
  })

  test('a supply of 10^15 tokens is allowed and one unit more is not', () => {
    const most = (extra: bigint) => ({
      candidacies: [one],
      accounts: [{ address: account(1).address, balance: String(tokens(10n ** 15n - 5n) + extra) }],
    })
    start(most(0n))
    expect(() => start(most(1n))).toThrow(/^genesis app_state: accounts and candidacies: expected a supply of at most /)
  })
})

describe('a genesis is refused with a message that names the member', () => {
  const candidacy = (over: Json) => ({ ...base, candidacies: [{ ...one, ...over }] })
  const params = (over: Json) => ({ ...base, params: over })
  const stake = (over: Json) => ({ ...base, stake: over })
  test.each<[string, unknown]>([
    ['app_state', []],
    ['accounts', { ...base, accounts: {} }],
    ['accounts[0].extra', { ...base, accounts: [{ ...base.accounts[0], extra: 1 }] }],
    ['accounts[0].address', { ...base, accounts: [{ balance: '1' }] }],
    ['accounts[0].address', { ...base, accounts: [{ address: '0x12', balance: '1' }] }],
    ['accounts[0].balance', { ...base, accounts: [{ address: one.owner }] }],
    ['accounts[0].balance', { ...base, accounts: [{ address: one.owner, balance: '-1' }] }],
    ['accounts[0].balance', { ...base, accounts: [{ address: one.owner, balance: 1.5 }] }],
    ['accounts[0].balance', { ...base, accounts: [{ address: one.owner, balance: 2 ** 53 }] }],
    ['accounts[0].balance', { ...base, accounts: [{ address: one.owner, balance: true }] }],
    ['accounts[0].balance', { ...base, accounts: [{ address: one.owner, balance: `0x${'f'.repeat(30)}0` }] }],
    [
      'accounts address',
      { ...base, accounts: [base.accounts[0], { address: one.owner.toUpperCase().replace('0X', '0x'), balance: '1' }] },
    ],
    ['candidacies', { accounts: base.accounts }],
    ['candidacies[0]', { ...base, candidacies: [null] }],
    ['candidacies[0].extra', candidacy({ extra: 1 })],
    ['candidacies pub_key', { ...base, candidacies: [one, { ...two, pub_key: one.pub_key }] }],
    ['candidacies[0].owner', candidacy({ owner: 'x' })],
    ['candidacies[0].pub_key', candidacy({ pub_key: 'AAAA' })],
    ['candidacies[0].pub_key', candidacy({ pub_key: { type: 'x' } })],
    ['candidacies[0].shares', candidacy({ shares: String(tokens(1) - 1n) })],
    ['candidacies[0].shares', candidacy({ shares: String(tokens(50) + 1n) })],
    ['candidacies[0].shares', candidacy({ shares: null })],
    ['candidacies[0].max_shares', candidacy({ max_shares: undefined })],
    ['candidacies[0].max_shares', candidacy({ max_shares: `1${'0'.repeat(35)}1` })],
    ['candidacies[0].comp_rate', candidacy({ comp_rate: '1.1' })],
    ['candidacies[0].comp_rate', candidacy({ comp_rate: 0.5 })],
    ['candidacies[0].description', candidacy({ description: 'x' })],
    ['candidacies[0].description.extra', candidacy({ description: { extra: 'x' } })],
    ['candidacies[0].description.name', candidacy({ description: { name: 'é'.repeat(64).concat('x') } })],
    ['candidacies[0].description.name', candidacy({ description: { name: 5 } })],
    ['params', params([] as never)],
    ['params.extra', params({ extra: 1 })],
    ['params.max_vals', params({ max_vals: 0 })],
    ['params.max_vals', params({ max_vals: 201 })],
    ['params.max_vals', params({ max_vals: 1.5 })],
    ['params.self_staking_ratio', params({ self_staking_ratio: '0' })],
    ['params.self_staking_ratio', params({ self_staking_ratio: 0.1 })],
    ['params.stake_limit', params({ stake_limit: '1.000000000000000001' })],
    ['params.inflation_rate', params({ inflation_rate: 101 })],
    ['params.inflation_rate', params({ inflation_rate: -1 })],
    ['params.unstake_wait_period', params({ unstake_wait_period: 0 })],
    ['params.unstake_wait_period', params({ unstake_wait_period: 10 ** 9 + 1 })],
    ['params.proposal_expire_period', params({ proposal_expire_period: 1_000_001 })],
    ['params.declare_candidacy', params({ declare_candidacy: 10 ** 8 + 1 })],
    ['params.gas_price', params({ gas_price: 10 ** 12 + 1 })],
    ['params.hold_account', params({ hold_account: '' })],
    ['stake.extra', stake({ extra: 1 })],
    ['stake.default_max_amount', stake({ default_max_amount: String(tokens(1) - 1n) })],
    ['stake.default_max_amount', stake({ default_max_amount: `1${'0'.repeat(35)}1` })],
    ['stake.default_comp_rate', stake({ default_comp_rate: '1.5' })],
    ['stake.foundation_address', stake({ foundation_address: '0x' })],
    ['stake.max_absent_blocks', stake({ max_absent_blocks: 0 })],
    ['stake.max_absent_blocks', stake({ max_absent_blocks: 1_000_001 })],
    ['stake.max_absent_blocks', stake({ max_absent_blocks: '5' })],
    ['stake.slash_ratio', stake({ slash_ratio: '1.1' })],
    ['stake.slash_ratio', stake({ slash_ratio: '-0' })],
  ])('%s', (member, genesis) => {
    let message = ''
    try {
      start(genesis as object)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain(`genesis app_state: ${member}: expected `)
  })

  test.each<[string, unknown]>([
    ['candidacies: expected an array, got "x"', { ...base, candidacies: 'x' }],
    ['accounts[0]: expected an object, got "x"', { ...base, accounts: ['x'] }],
    ['app_state.y: expected one of accounts, params, stake, candidacies, got 1', { ...base, y: 1 }],
    [
      `candidacies owner: expected each once, got "${one.owner}"`,
      { ...base, candidacies: [one, { ...two, owner: one.owner }] },
    ],
    ['candidacies: expected at least one eligible candidacy, got []', { ...base, candidacies: [] }],
    ['params.max_vals: expected an integer, got "4"', params({ max_vals: '4' })],
    ['params.hold_account: expected text, got 1', params({ hold_account: 1 })],
    [`stake.default_max_amount: expected at least 1 token (${tokens(1)}), got "1"`, stake({ default_max_amount: '1' })],
    [
      `candidacies[0].shares: expected at least 1 token (${tokens(1)}) and at most max_shares ${tokens(50)}, got "1"`,
      candidacy({ shares: '1' }),
    ],
  ])('in full: %s', (message, genesis) => {
    expect(() => start(genesis as object)).toThrow(new GenesisError(`genesis app_state: ${message}`))
  })

  test('the longest unstake_wait_period is allowed', () => {
    const longest = { unstake_wait_period: 10 ** 9 }
    expect(start(params(longest)).query('/governance/params')).toMatchObject(longest)
  })

  test('bytes that are not JSON are refused', () => {
    const chain = new TestChain()
    expect(() =>
      chain.app.initChain({
        time: { seconds: 0, nanos: 0 },
        chainId: CHAIN_ID,
        validators: [],
        initialHeight: 1,
        appStateBytes: new Uint8Array([0xff]),
        consensusParams: {},
      }),
    ).toThrow(/^genesis app_state: expected a JSON object, got 1 bytes/)
  })
})
