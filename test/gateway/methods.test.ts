import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { toBase64 } from '../../src/base/bytes.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { queryEntries, txEntries } from '../../src/modules/registry.ts'
import { signerOfPrivateKey } from '../../src/keys/ethereum.ts'
import { digestOfBody } from '../../src/modules/isSignedBySender.ts'
import { privateKey } from '../support/wallet.ts'
import { alice, bob, post, startPair, until } from './support.ts'

const asked: string[] = []
let pair: Awaited<ReturnType<typeof startPair>>
beforeAll(async () => {
  pair = await startPair({
    query: (path, height) => {
      asked.push(`${path}@${height}`)
      if (path === '/governance/proposals?limit=1&newest=false') return { data: { data: ['one'], total: 7 } }
      if (path.startsWith('/stake/candidacy-id/')) return { data: path.endsWith(alice.address) ? 7 : null }
      if (path.endsWith('/a'.padEnd(129, 'a'))) return { code: 20, log: 'key: as the chain says' }
      return path === '/stake/validators?offset=9'
        ? { code: 20, log: 'Invalid parameter: offset: no' }
        : path.startsWith('/stake') || path.startsWith('/governance/proposal')
          ? { data: { path } }
          : {}
    },
  })
})
afterAll(() => pair.close())

const error = async (method: string, params?: unknown) => (await pair.rpc(method, params)).error
const id = new Uint8Array(32).fill(0xfb)
const from = alice.address

describe('every method', () => {
  test('of the interface is there: 9 of stake and 7 of governance, and the extensions', () => {
    const published = `
      eth_blockNumber eth_chainId net_listening net_version rpc.discover web3_clientVersion
      svc_acceptCandidacyAccountUpdate svc_accounts svc_activateCandidacy svc_blockNumber svc_deactivateCandidacy
      svc_declareCandidacy svc_estimateFee svc_faucet svc_getAwards svc_getBalance svc_getBlock svc_getParamsHistory
      svc_getProof svc_getShortfall svc_getSupply svc_getTransaction svc_getTransactionCount svc_getTransactions
      svc_getValidatorHistory svc_mine svc_proposeChangeParam svc_proposeDeployLibEni svc_proposeRetireProgram
      svc_proposeTransferFund svc_proposeUpgradeProgram svc_queryAccountUpdate svc_queryAccountUpdates svc_queryParams
      svc_queryProposal svc_queryProposals svc_queryUnbonding svc_queryValidator svc_queryValidatorSet
      svc_queryValidators svc_sendRawTransaction svc_status svc_subscribe svc_transfer svc_unsubscribe
      svc_updateCandidacy svc_updateCandidacyAccount svc_verifyCandidacy svc_vote svc_withdrawCandidacy`
      .trim()
      .split(/\s+/)
    const names = methods.map(({ name }) => name)
    expect(published.filter((name) => !names.includes(name))).toEqual([])
    // An operation or a query of the registry is a method without more; any other method is named above.
    const registered = [...txEntries, ...queryEntries].flatMap(({ method }) => method ?? [])
    const known = new Set([...published, ...registered])
    expect(names.sort()).toEqual([...known].sort())
  })

  test('no operation has a member of its own that the common ones hide', () => {
    for (const { input } of txEntries)
      expect(Object.keys(input).filter((name) => name === 'from' || name === 'nonce')).toEqual([])
  })

  test('svc_mine counts as unknown where blocks do not wait for transactions, and says where it is known', async () => {
    expect(await error('svc_mine')).toEqual({
      code: -32601,
      message: 'svc_mine: only a devnet that was started with --block-time 0 mines blocks',
    })
  })

  test('svc_faucet counts as unknown where the keys are not public, and says where it is known', async () => {
    const other = await startPair({}, { signers: [], publicKeys: false })
    try {
      expect((await other.rpc('svc_faucet', [alice.address])).error).toEqual({
        code: -32601,
        message: 'svc_faucet: only a devnet whose keys are public gives tokens away',
      })
    } finally {
      await other.close()
    }
  })

  test('of an operation names the field that the chain would refuse, where the key could sign nothing for it', async () => {
    const signer = signerOfPrivateKey(privateKey(0), digestOfBody)
    const other = await startPair({}, { signers: [signer] })
    try {
      const transfer = { from: signer.address, to: bob.address, value: '1'.repeat(38) }
      expect((await other.rpc('svc_transfer', [transfer])).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('value: expected'),
      })
      expect(other.log.lines.filter(({ message }) => message.includes('defect'))).toEqual([])
    } finally {
      await other.close()
    }
  })

  test('counts as unknown when there is none of that name', async () => {
    expect(await error('svc_noSuch')).toEqual({ code: -32601, message: 'Method not found: svc_noSuch' })
    expect((await error('constructor'))?.code).toBe(-32601)
  })
})

test('svc_getBlock is null for a height that the node does not have, 0 too, and nothing is wrong then', async () => {
  const before = pair.log.lines.length
  for (const height of [0, 10 ** 9]) expect(await pair.rpc('svc_getBlock', [height])).toMatchObject({ result: null })
  expect(pair.log.lines.slice(before)).toEqual([])
})

describe('queries', () => {
  const path = (name: string): string => queryEntries.find((entry) => entry.path.startsWith(name))?.path ?? ''
  test.each([
    ['svc_queryValidator', [alice.address.toUpperCase().replace('0X', '0x')], `/stake/validator/${alice.address}@0`],
    ['svc_queryValidator', [alice.address, 3], `/stake/validator/${alice.address}@0`],
    ['svc_queryValidator', { validatorAddress: alice.address, height: '0x3' }, `/stake/validator/${alice.address}@0`],
    ['svc_queryValidators', undefined, '/stake/validators@0'],
    ['svc_queryValidators', [], '/stake/validators@0'],
    ['svc_queryValidators', [7], '/stake/validators@0'],
    ['svc_queryValidators', [null], '/stake/validators@0'],
    ['svc_queryValidators', { limit: 2, offset: '4', height: 1 }, '/stake/validators?limit=2&offset=4@0'],
    ['svc_queryProposals', undefined, '/governance/proposals@0'],
    ['svc_queryProposals', { limit: 0 }, '/governance/proposals?limit=0@0'],
    ['svc_queryProposals', { state: 'open', limit: '5' }, '/governance/proposals?limit=5&state=open@0'],
    [
      'svc_queryProposals',
      { type: 'deploy_libeni', state: 'Approved', newest: true, offset: 2 },
      '/governance/proposals?offset=2&newest=true&state=Approved&type=deploy_libeni@0',
    ],
    ['svc_queryProposal', [toBase64(id)], `/governance/proposal/${Buffer.from(id).toString('base64url')}=@0`],
    ['svc_queryUnbonding', [alice.address], `/stake/unbonding/${alice.address}@0`],
    ['svc_queryAccountUpdate', ['0x7'], '/stake/account-update/7@0'],
    ['svc_queryAccountUpdates', [alice.address], `/stake/account-updates/${alice.address}@0`],
    [
      'svc_queryAccountUpdates',
      { offset: 1, limit: 2, address: alice.address },
      `/stake/account-updates/${alice.address}?limit=2&offset=1@0`,
    ],
    ['svc_queryDelegator', [alice.address], `/stake/delegator/${alice.address}@0`],
    ['svc_queryDelegator', [alice.address, 0], `/stake/delegator/${alice.address}@0`],
    ['svc_queryDelegator', { delegatorAddress: alice.address, height: 3 }, `/stake/delegator/${alice.address}@0`],
    ['svc_queryDelegations', [alice.address], `/stake/delegations/${alice.address}@0`],
    [
      'svc_queryDelegations',
      { validatorAddress: alice.address, limit: 2, offset: 1 },
      `/stake/delegations/${alice.address}?limit=2&offset=1@0`,
    ],
    ['svc_queryStake', [alice.address], `/stake/stake/${alice.address}@0`],
    ['svc_queryAbsences', undefined, '/stake/absences@0'],
    ['svc_queryAbsences', { limit: 2, offset: 1 }, '/stake/absences?limit=2&offset=1@0'],
    ['svc_getParamsHistory', undefined, '/governance/params-history@0'],
    ['svc_getParamsHistory', { limit: 3 }, '/governance/params-history?limit=3@0'],
    ['svc_getSupply', undefined, '/chain/supply@0'],
    ['svc_queryParams', undefined, '/governance/params@0'],
    ['svc_queryParams', ['1'], '/governance/params@1'],
  ])('%s %j asks the chain for %s', async (method, params, expected) => {
    // One list at one head is asked for once: the next test that asks for it waits for another head.
    const before = pair.node.ledger.blocks.length
    await until(() => pair.node.ledger.blocks.length > before + 1)
    asked.length = 0
    const { result } = await pair.rpc(method, params)
    expect(asked).toEqual([expected])
    expect((result as { height: number }).height).toBeGreaterThan(0)
    expect(path(expected.split(/[?@]/)[0]?.split('/').slice(0, 3).join('/') ?? '')).not.toBe('')
  })

  test('a list that says how many elements there are is answered with its total', async () => {
    expect((await pair.rpc('svc_queryProposals', { newest: false, limit: 1 })).result).toEqual({
      height: expect.any(Number),
      data: ['one'],
      total: 7,
    })
  })

  test('svc_getProof asks for the row and its proof, of a candidacy by its owner too, and answers with their bytes', async () => {
    const asks = async (params: unknown): Promise<readonly string[]> => {
      asked.length = 0
      expect((await pair.rpc('svc_getProof', params)).result).toEqual({
        height: expect.any(Number),
        key: 'AQI=',
        value: '',
        proof: 'AwQ=',
      })
      return asked
    }
    expect(await asks(['accounts', alice.address])).toEqual([`/store/accounts/${alice.address}@0`])
    expect(await asks({ table: 'totals' })).toEqual(['/store/totals@0'])
    expect(await asks(['params', 'max_vals/0'])).toEqual(['/store/params/max_vals/0@0'])
    expect(await asks(['candidacies', '7'])).toEqual(['/store/candidacies/7@0'])
    expect(await asks(['candidacies', alice.address])).toEqual([
      `/stake/candidacy-id/${alice.address}@0`,
      '/store/candidacies/7@0',
    ])
  })

  test('svc_getProof refuses what can be no row, and an owner without a candidacy', async () => {
    expect(await error('svc_getProof', ['nothing', '1'])).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^table: .*accounts/),
    })
    expect(await error('svc_getProof', ['library_status', '1'])).toMatchObject({ code: -32602 })
    expect(await error('svc_getProof', ['accounts', 'a?b'])).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^key: /),
    })
    expect(await error('svc_getProof', ['accounts', 'a'.repeat(129)])).toMatchObject({ code: -32602 })
    expect(await error('svc_getProof', ['accounts', 'a'.repeat(128)])).toMatchObject({
      code: -32602,
      message: 'key: as the chain says',
    })
    expect(await error('svc_getProof', ['candidacies', bob.address])).toEqual({
      code: -32602,
      message: `key: ${bob.address} owns no candidacy, and that cannot be proven`,
    })
  })

  test('svc_queryParams tells the requested height, and the head for 0', async () => {
    expect((await pair.rpc('svc_queryParams', [1])).result).toEqual({ height: 1, data: { gas_price: 2 } })
    expect(((await pair.rpc('svc_queryParams', [0])).result as { height: number }).height).toBeGreaterThan(1)
  })

  test('what the chain says of an argument is -32602 in its words', async () => {
    expect(await error('svc_queryValidators', { offset: 9 })).toEqual({
      code: -32602,
      message: 'Invalid parameter: offset: no',
    })
    expect(await error('svc_queryParams', [1_000_000])).toMatchObject({
      code: -32602,
      message: expect.stringContaining('got 1000000'),
    })
  })

  test('accounts, balances, heights and the node', async () => {
    expect((await pair.rpc('svc_accounts')).result).toEqual([alice.address])
    expect((await pair.rpc('svc_getBalance', [bob.address])).result).toBe('1000')
    expect((await pair.rpc('svc_blockNumber')).result).toEqual(expect.any(Number))
    expect((await pair.rpc('svc_status')).result).toEqual({
      chain_id: 'gateway-test',
      height: expect.any(Number),
      time: '2026-11-20T10:00:05Z',
      app_hash: 'AB'.repeat(32),
      catching_up: false,
      node_version: '0.38.25',
      application_version: '0.3.0',
      program_version: 2,
      chain_program_version: 2,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    expect((await pair.rpc('svc_getBalance', [bob.address, 'latest'])).result).toBe('1000')
    expect((await pair.rpc('svc_estimateFee', ['transfer'])).result).toEqual({
      height: expect.any(Number),
      gas: 21_000,
      gas_price: 2,
      fee: '42000',
    })
    // sha256('gateway-test') begins with these bytes.
    const number = Number.parseInt(createHash('sha256').update('gateway-test').digest('hex').slice(0, 8), 16) >>> 1
    expect((await pair.rpc('eth_chainId')).result).toBe(`0x${number.toString(16)}`)
    expect((await pair.rpc('net_version')).result).toBe(String(number))
    expect((await pair.rpc('net_listening')).result).toBe(true)
    const [before, hex] = [await pair.rpc('svc_blockNumber'), await pair.rpc('eth_blockNumber')].map(
      ({ result }) => result,
    )
    expect(hex).toBe(`0x${Number(hex).toString(16)}`)
    expect(Number(hex)).toBeGreaterThanOrEqual(before as number)
    expect((await pair.rpc('web3_clientVersion')).result).toMatch(/^svcd\/v\d+\.\d+\.\d+/)
    expect((await pair.rpc('svc_getTransaction', [`0x${'ab'.repeat(32)}`])).result).toBeNull()
  })
})

describe('-32602', () => {
  const rows: readonly (readonly [method: string, params: unknown, message: RegExp])[] = [
    ['svc_withdrawCandidacy', [{}], /^from: this member is required: account that acts/],
    ['svc_withdrawCandidacy', undefined, /^from: this member is required/],
    ['svc_withdrawCandidacy', [], /^params: expected one object of members, got \[\]$/],
    ['svc_withdrawCandidacy', [{ from }, { from }], /^params: expected one object/],
    ['svc_withdrawCandidacy', [from], /^params: expected an object of members/],
    ['svc_withdrawCandidacy', [[{ from }]], /^params: expected an object of members/],
    ['svc_withdrawCandidacy', { from, pubKey: '' }, /^pubKey: expected one of from, nonce, got ""$/],
    ['svc_withdrawCandidacy', '{"from": null}', /^from: this member is required/],
    ['svc_withdrawCandidacy', { from: '0x12' }, /^from: expected an address \(0x and 40 hex digits\), got "0x12"$/],
    ['svc_withdrawCandidacy', { from, nonce: -1 }, /^nonce: expected an integer of 0 to 2\^53 - 1 .*, got -1$/],
    ['svc_withdrawCandidacy', { from, nonce: 1.5 }, /^nonce: .*got 1.5$/],
    ['svc_withdrawCandidacy', { from, nonce: 'x' }, /^nonce: /],
    ['svc_declareCandidacy', { from }, /^pubKey: this member is required: public key of the validator node, /],
    ['svc_declareCandidacy', { from, pubKey: 'not base64' }, /^pubKey: expected base64 text, got "not base64"$/],
    ['svc_declareCandidacy', { from, pubKey: 7 }, /^pubKey: expected base64 text, got 7$/],
    [
      'svc_declareCandidacy',
      { from, pubKey: '', description: { name: 7 } },
      /^description.name: expected a string, got 7$/,
    ],
    ['svc_declareCandidacy', { from, pubKey: '', description: { nom: 'x' } }, /^description.nom: expected one of name/],
    [
      'svc_declareCandidacy',
      { from, pubKey: '', description: 'x' },
      /^description: expected an object of members, got "x"$/,
    ],
    ['svc_transfer', { from, to: from }, /^value: this member is required: amount above 0/],
    ['svc_transfer', { from, to: from, value: '1.5' }, /^value: expected an amount .*got "1.5"$/],
    ['svc_transfer', { from, to: from, value: 2 ** 53 }, /^value: /],
    [
      'svc_acceptCandidacyAccountUpdate',
      { from, accountUpdateRequestId: '9007199254740993' },
      /^accountUpdateRequestId: /,
    ],
    ['svc_delegate', { from, amount: 1 }, /^validatorAddress: this member is required: owner of the candidacy/],
    ['svc_delegate', { from, validatorAddress: from }, /^amount: this member is required: amount to stake/],
    // The predecessor's members for a device of its own, which no chain of svcd knows.
    [
      'svc_delegate',
      { from, validatorAddress: from, amount: '1', cubeBatch: '01' },
      /^cubeBatch: expected one of from, validatorAddress, amount, nonce, got "01"$/,
    ],
    ['svc_delegate', { from, validatorAddress: from, amount: '1', sig: '036b' }, /^sig: expected one of from, /],
    ['svc_withdraw', { from, amount: 1 }, /^validatorAddress: this member is required: owner of the candidacy/],
    ['svc_withdraw', { from, validatorAddress: from, completelyWithdraw: 1 }, /^completelyWithdraw: expected Y or N/],
    ['svc_queryDelegator', [], /^delegatorAddress: this member is required: address/],
    ['svc_queryDelegations', [from, 1], /^params: expected at most 1 by position/],
    ['svc_queryStake', ['0x12'], /^validatorAddress: expected an address/],
    ['svc_vote', { from, proposalId: '*', answer: 'Y' }, /^proposalId: expected base64 text/],
    ['svc_queryValidator', [], /^validatorAddress: this member is required: address/],
    ['svc_queryValidator', ['0xzz'], /^validatorAddress: expected an address/],
    ['svc_queryValidator', [from, 1, 2], /^params: expected at most 2 by position/],
    ['svc_queryValidator', { address: from }, /^address: expected one of validatorAddress, height/],
    ['svc_queryValidators', [1, 2], /^params: expected at most 1 by position/],
    ['svc_queryProposals', [1], /^params: expected at most 0 by position/],
    ['svc_queryProposals', { state: '' }, /^state: expected one of open, Approved, Rejected, Expired, got ""$/],
    ['svc_queryProposals', { type: 'upgrade_program' }, /^type: expected one of transfer_fund, change_param, /],
    ['svc_queryProposals', { newest: 'true' }, /^newest: expected true or false, got "true"$/],
    ['svc_queryParams', [-1], /^height: expected an integer/],
    ['svc_queryAccountUpdate', [], /^accountUpdateRequestId: this member is required: id that updateAccount returned/],
    ['svc_queryAccountUpdate', ['x'], /^accountUpdateRequestId: expected an integer/],
    ['svc_queryAccountUpdates', ['0x12'], /^address: expected an address/],
    ['svc_queryAccountUpdates', [from, 1], /^params: expected at most 1 by position/],
    ['svc_getParamsHistory', { name: 'max_vals' }, /^name: expected one of limit, offset/],
    ['svc_getSupply', [1], /^params: expected at most 0 by position/],
    ['svc_queryProposal', [7], /^proposalId: expected base64 text/],
    ['svc_getBalance', [from, 'earliest'], /^block: expected latest, got "earliest"$/],
    ['svc_getBlock', [], /^block: this member is required: height, hash/],
    ['svc_getBlock', ['ab'.repeat(31)], /^block: expected a height, a hash \(64 hex digits\) or latest, got "abab/],
    ['svc_getBlock', { block: 1, limit: 101 }, /^limit: expected an integer of 1 to 100, got 101$/],
    ['svc_getTransactions', { address: from, limit: 0 }, /^limit: expected an integer of 1 to 100, got 0$/],
    ['svc_getTransactions', { address: from, before: '1/2/3' }, /^before: expected a height .*got "1\/2\/3"$/],
    ['svc_getTransactions', { address: from, before: '9'.repeat(16) }, /^before: expected a height/],
    ['svc_getTransactions', [from, 5], /^params: expected at most 1 by position/],
    ['svc_estimateFee', ['mint'], /^operation: expected one of declareCandidacy, .*got "mint"$/],
    ['svc_getTransactionCount', [from, 'earliest'], /^block: expected latest or pending, got "earliest"$/],
    ['svc_getTransaction', ['ab'], /^hash: expected a transaction hash \(64 hex digits\), got "ab"$/],
    ['svc_sendRawTransaction', ['0xabc'], /^transaction: expected base64 text or 0x-hex text/],
    ['svc_sendRawTransaction', [7], /^transaction: expected/],
  ]
  test.each(rows)('%s %j', async (method, params, message) => {
    const given = typeof params === 'string' ? (JSON.parse(params) as unknown) : params
    const found = await error(method, given)
    expect(found).toEqual({ code: -32602, message: expect.stringMatching(message) })
  })

  test('is not for what the chain can judge: that comes back in a result object', async () => {
    const params = { from, pubKey: 'AAAA', description: { name: 'x'.repeat(500) } }
    expect((await pair.rpc('svc_declareCandidacy', [params])).result).toHaveProperty('check_tx')
  })
})

test('a key that the gateway lacks is -32010 and names the address', async () => {
  const found = await error('svc_withdrawCandidacy', [{ from: bob.address }])
  expect(found).toMatchObject({ code: -32010, message: expect.stringContaining(bob.address) })
})

test('__proto__ and constructor keys are refused before anything reads them', async () => {
  for (const key of ['"__proto__":{"from":1}', '"constructor":{"prototype":{"from":1}}']) {
    const body = `{"jsonrpc":"2.0","id":1,"method":"svc_withdrawCandidacy","params":{${key}}}`
    expect(await (await post(pair.gateway.url, body)).json()).toMatchObject({ error: { code: -32700 }, id: null })
  }
})
