import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import type { AbciQueryResult } from '../../src/comet/rpc.ts'
import { printPath } from '../../src/modules/query.ts'
import { queryEntries, tables } from '../../src/modules/registry.ts'
import { decodeFields, readFields } from '../../src/tx/fields.ts'
import { buildGoProgram } from '../support/goProgram.ts'
import type { TransactionResult } from '../../src/tx/result.ts'
import { type Devnet, makePlace, startDevnet } from './support/devnet.ts'
import { GAS, GAS_PRICE } from './support/expect.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(() => net.stop())
const verifier = join(folder, 'verify')
let net: Devnet
let [owner, spender, nobody] = ['', '', '']
let proposalId = ''

beforeAll(async () => {
  buildGoProgram(join(import.meta.dirname, '../ics23'), verifier)
  net = await startDevnet(await makePlace(join(folder, 'home')), ['--os', 'ubuntu'])
  ;[owner = '', spender = '', nobody = ''] = await net.call<string[]>('svc_accounts')
  const proposed = await net.commit('svc_proposeChangeParam', {
    from: owner,
    name: 'max_vals',
    value: '6',
    reason: 'for the table',
  })
  proposalId = proposed.deliver_tx.data ?? ''
  const { height } = await net.commit('svc_vote', { from: owner, proposalId, answer: 'Y' })
  await net.waitForHeight(height + 1)
})

const urlSafe = (id: string): string => id.replaceAll('+', '-').replaceAll('/', '_')

describe("abci_query over CometBFT's own RPC", () => {
  const ask = (path: string, prove = false): Promise<AbciQueryResult> => net.node.abciQuery({ path, prove })
  const json = async (path: string): Promise<unknown> => {
    const { code, log, value, height } = await ask(path)
    expect([code, log]).toEqual([0, ''])
    expect(height).toBeGreaterThan(0)
    return JSON.parse(Buffer.from(value).toString())
  }

  test('every path of the registry is answered with UTF-8 JSON at the head', async () => {
    const valueOfType: Readonly<Record<string, unknown>> = { address: owner, uint: 1, proposalId }
    const answers: Record<string, unknown> = {}
    for (const entry of queryEntries) {
      const required = Object.entries(entry.input).filter(([, { optional }]) => !optional)
      const input = Object.fromEntries(required.map(([name, { type }]) => [name, valueOfType[type]]))
      const values = decodeFields(entry.input, readFields(entry.input, input))
      answers[entry.path] = await json(printPath(entry, values))
    }
    expect(answers).toMatchObject({
      '/stake/validators': [{ owner_address: owner }],
      '/stake/validator/<address>': { owner_address: owner },
      '/stake/candidacy-id/<address>': 1,
      '/stake/unbonding/<address>': [],
      '/stake/set': [{ candidacy_id: 1, proven: true }],
      '/stake/set/owners': [{ owner_address: owner, proven: true }],
      '/stake/account-update/<id>': null,
      '/governance/proposals': [{ Id: proposalId }],
      '/governance/proposal/<id>': { Id: proposalId, Result: 'Approved', Votes: [{ Voter: owner, Answer: 'Y' }] },
      '/governance/votes/<id>': [{ Voter: owner, Answer: 'Y' }],
      '/governance/params': { max_vals: 6 },
      '/governance/params-history': expect.arrayContaining([expect.objectContaining({ name: 'max_vals', value: '6' })]),
      '/stake/account-updates/<address>': [],
      '/chain/supply': { burned: '0' },
      '/accounts/<address>': { address: owner, nonce: 2 },
    })
  })

  test('/governance/params honours the height of the request', async () => {
    const { value } = await net.node.abciQuery({ path: '/governance/params', height: 1 })
    expect(JSON.parse(Buffer.from(value).toString())).toMatchObject({ max_vals: 4 })
  })

  test('an unknown path is refused with a log that names it', async () => {
    expect(await ask('/no/such/path')).toMatchObject({ code: 4, log: expect.stringContaining('/no/such/path') })
  })

  interface Claim {
    readonly root: string
    readonly key: string
    readonly value?: string
    readonly proof: string
    readonly expect: string
  }
  const judge = (claims: readonly Claim[]): readonly string[] =>
    spawnSync(verifier, { input: claims.map((one) => JSON.stringify(one)).join('\n'), encoding: 'utf8' })
      .stdout.trim()
      .split('\n')

  /** What the node proves of one key, for the app hash in the header of the height after. */
  async function prove(path: string): Promise<Claim> {
    const { code, height, key, value, proofOps } = await ask(path, true)
    expect([code, proofOps.map((op) => [op.type, Buffer.from(op.key)])]).toEqual([0, [['ics23:smt', Buffer.from(key)]]])
    await net.waitForHeight(height + 1)
    const hex = (bytes: Uint8Array = new Uint8Array(0)): string => Buffer.from(bytes).toString('hex')
    return {
      root: await headerAppHash(height + 1),
      key: hex(key),
      ...(value.length === 0 ? {} : { value: hex(value) }),
      proof: hex(proofOps[0]?.data),
      expect: 'ok',
    }
  }

  const headerAppHash = async (height: number): Promise<string> => (await net.node.block(height)).appHash.toLowerCase()

  const flip = (hex: string, at: number): string => {
    const bytes = Buffer.from(hex, 'hex')
    bytes[at] = (bytes[at] as number) ^ 1
    return bytes.toString('hex')
  }

  test('with prove the ICS-23 verifier accepts a present and an absent key against header height + 1, and no changed byte', async () => {
    const present = await prove(`/store/accounts/${owner}`)
    const absent = await prove(`/store/accounts/0x${'12'.repeat(20)}`)
    expect([present.value !== undefined, absent.value]).toEqual([true, undefined])
    expect(judge([present, absent])).toEqual(['ok', 'ok'])
    const bad = [present, absent].flatMap((one) => [
      { ...one, root: flip(one.root, 0) },
      { ...one, root: flip(one.root, 31) },
      { ...one, proof: flip(one.proof, one.proof.length / 2 - 1) },
    ])
    const swapped = [
      { ...present, value: flip(present.value ?? '', 1) },
      { ...present, key: flip(present.key, 5) },
      { ...absent, key: present.key },
    ]
    expect(judge([...bad, ...swapped])).toEqual([...bad, ...swapped].map(() => 'refused'))
  })

  test('every hashed table can be read under /store', async () => {
    const keys: Readonly<Record<string, readonly string[]>> = {
      accounts: [owner],
      candidacies: ['1'],
      absences: ['1'],
      unbondings: ['1'],
      account_updates: ['1'],
      misbehaviours: ['1'],
      delegations: ['1', '0', owner],
      batches: ['1', '1'],
      claims: ['1', '1', owner],
      proposals: [urlSafe(proposalId)],
      votes: [urlSafe(proposalId), '1'],
      params: ['max_vals', '0'],
      totals: [],
      counters: [],
      chain: [],
    }
    const pubKey = (await net.call<{ data: { pub_key: { value: string } } }>('svc_queryValidator', [owner])).data
      .pub_key.value
    const all = { ...keys, validator_set: [urlSafe(pubKey)], validator_keys: [urlSafe(pubKey), '1'] }
    expect(Object.keys(all).sort()).toEqual(
      tables
        .filter(({ hashed }) => hashed)
        .map(({ name }) => name)
        .sort(),
    )
    for (const [table, parts] of Object.entries(all)) {
      expect([table, (await ask(`/store/${[table, ...parts].join('/')}`)).log]).toEqual([table, ''])
    }
  })
})

describe('state.db', () => {
  const rows = (sql: string): unknown[] => {
    const db = new Database(join(net.place.home, 'data', 'state.db'), { readonly: true })
    try {
      return db.prepare(sql).all()
    } finally {
      db.close()
    }
  }

  test("validators, accounts, proposals and votes read like a person's tables while the chain runs", () => {
    expect(rows('select owner_address, shares, voting_power, state from validators')).toEqual([
      { owner_address: owner, shares: expect.stringMatching(/^\d{26}$/), voting_power: 10_000_000, state: 'Validator' },
    ])
    expect(rows(`select address, balance, nonce from accounts where address = '${spender}'`)).toEqual([
      { address: spender, balance: `100000${'0'.repeat(18)}`, nonce: 0 },
    ])
    expect(rows('select id, type, proposer, result, reason, name, value from proposals')).toEqual([
      {
        id: proposalId,
        type: 'change_param',
        proposer: owner,
        result: 'Approved',
        reason: 'for the table',
        name: 'max_vals',
        value: '6',
      },
    ])
    expect(rows('select proposal_id, voter, answer from votes')).toEqual([
      { proposal_id: proposalId, voter: owner, answer: 'Y' },
    ])
  })

  test('the head of the tables is the head of the chain', async () => {
    const before = await net.height()
    const [{ height }] = rows('select max(height) as height from blocks') as [{ height: number }]
    expect(height).toBeGreaterThanOrEqual(before)
  })
})

test('1,000 transfers of one account at once over HTTP: all are committed, with nonces without a gap and no duplicate', async () => {
  const count = 1000
  const first = await net.call<number>('svc_getTransactionCount', [spender])
  const balanceOf = async (address: string): Promise<bigint> =>
    BigInt(await net.call<string>('svc_getBalance', [address]))
  const [mine, theirs] = [await balanceOf(spender), await balanceOf(nobody)]
  const transfer = (): Promise<TransactionResult> => net.send('svc_transfer', { from: spender, to: nobody, value: '7' })
  const results = await Promise.all(Array.from({ length: count }, transfer))
  expect(results.filter(({ height }: TransactionResult) => height === 0)).toEqual([])
  expect(new Set(results.map(({ hash }) => hash)).size).toBe(count)
  await net.waitForIndex(Math.max(...results.map(({ height }) => height)))
  const nonces: number[] = []
  for (const { hash, height } of results) {
    const found = await net.call<{ height: number; nonce: number }>('svc_getTransaction', [hash])
    expect(found.height).toBe(height)
    nonces.push(found.nonce)
  }
  expect(nonces.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, at) => first + at))
  expect(await net.call('svc_getTransactionCount', [spender])).toBe(first + count)
  expect((await balanceOf(nobody)) - theirs).toBe(7n * BigInt(count))
  expect(mine - (await balanceOf(spender))).toBe(BigInt(count) * (7n + BigInt(GAS.transfer) * GAS_PRICE))
})
