import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { misfits } from '../conformance/interfaceTables.ts'
import type { TransactionResult } from '../../src/tx/result.ts'
import { type Devnet, makePlace, startDevnet } from './support/devnet.ts'
import { expectCommitted, expectRefused, GAS, proposalIdText } from './support/expect.ts'
import { askNode } from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

type Json = Readonly<Record<string, unknown>>
interface Listed {
  readonly height: number
  readonly data: readonly Json[]
}
interface One {
  readonly height: number
  readonly data: Json | null
}

const folder = testFolder(() => net.stop())
let net: Devnet
// Accounts of the devnet: the first owns the genesis validator, whose key the node holds. Each group below has its own.
let [owner, candidate, heir, stranger] = ['', '', '', ''] as string[]

const newKey = (): string => randomBytes(32).toString('base64')

beforeAll(async () => {
  net = await startDevnet(await makePlace(folder), ['--os', 'ubuntu'])
  ;[owner, candidate, heir, stranger] = await net.call<string[]>('svc_accounts')
})

const validator = async (address = ''): Promise<Json> =>
  (await net.call<One>('svc_queryValidator', [address])).data as Json
const proposal = async (id: string): Promise<Json> => {
  const found = (await net.call<Listed>('svc_queryProposals')).data.find((one) => one['Id'] === id)
  if (found === undefined) throw new Error(`no proposal ${id}`)
  return found
}
const dataOf = ({ deliver_tx: { data = '' } }: TransactionResult): string => data
const reject = async (id: string): Promise<void> =>
  void (await net.commit('svc_vote', { from: owner, proposalId: id, answer: 'N' }))

describe('candidacy methods', () => {
  const key = newKey()

  test('declare: svc_declareCandidacy makes the sender the owner and answers without data', async () => {
    const description = { name: 'n', website: 'w', location: 'l', email: 'e', profile: 'p' }
    expectCommitted(await net.send('svc_declareCandidacy', { from: candidate, pubKey: key, description }), GAS.declare)
    expect(await validator(candidate)).toMatchObject({
      owner_address: candidate,
      pub_key: { value: key },
      active: 'Y',
      description,
    })
  })

  test('query: svc_queryValidator answers the head and every field of the validator object', async () => {
    const { height, data } = await net.call<One>('svc_queryValidator', [candidate])
    expect(height).toBeGreaterThan(0)
    expect(misfits('Validator object', data as Json)).toEqual([])
    expect(data).toMatchObject({ pub_key: { type: expect.stringMatching(/PubKeyEd25519$/), value: key } })
    expect(Object.keys((data as Json)['description'] as object).join(' ')).toBe('name website location email profile')
    expect((await validator(owner))['state']).toBe('Validator')
  })

  test('query: an address without a record is answered with null', async () => {
    expect((await net.call<One>('svc_queryValidator', [stranger])).data).toBeNull()
  })

  test('query: the calls of one JSON-RPC batch are answered as each alone, of one head', async () => {
    const asked = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? candidate : stranger))
    const calls = asked.map((address, id) => ({ jsonrpc: '2.0', id, method: 'svc_queryValidator', params: [address] }))
    const answer = await fetch(net.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    })
    const results = ((await answer.json()) as { id: number; result: One }[]).map(({ result }) => result)
    expect(results.map(({ data }) => data)).toEqual(await Promise.all(asked.map(validator)))
    // Sixteen of them travel together.
    expect(new Set(results.slice(0, 16).map(({ height }) => height)).size).toBe(1)
  })

  test('list: svc_queryValidators answers the head and every validator and candidate', async () => {
    const { height, data } = await net.call<Listed>('svc_queryValidators')
    expect(height).toBeGreaterThan(0)
    expect(data.map((one) => misfits('Validator object', one))).toEqual([[], []])
    expect(data.map((one) => [one['owner_address'], one['rank']])).toEqual([
      [owner, 0],
      [candidate, 1],
    ])
  })

  test('query and list answer for the head, with its height, whatever height is asked', async () => {
    const before = await net.height()
    const one = await net.call<One>('svc_queryValidator', [candidate, 1])
    const all = await net.call<Listed>('svc_queryValidators', [1])
    expect(one.height).toBeGreaterThanOrEqual(before)
    expect(all.height).toBeGreaterThanOrEqual(before)
    expect([one.data?.['owner_address'], all.data.length]).toEqual([candidate, 2])
  })

  test('update: svc_updateCandidacy sets what is given, and a description sets verified N', async () => {
    await net.commit('svc_verifyCandidacy', { from: owner, candidateAddress: candidate, verified: 'Y' })
    expect(await validator(candidate)).toMatchObject({ verified: 'Y' })
    expectCommitted(
      await net.send('svc_updateCandidacy', { from: candidate, description: { name: 'other' } }),
      GAS.update,
    )
    expect(await validator(candidate)).toMatchObject({ verified: 'N', description: { name: 'other', website: 'w' } })
  })

  test('deactivate: svc_deactivateCandidacy sets active N', async () => {
    expectCommitted(await net.send('svc_deactivateCandidacy', { from: candidate }), GAS.activation)
    expect(await validator(candidate)).toMatchObject({ active: 'N', state: 'Candidate' })
  })

  test('activate: svc_activateCandidacy sets active Y again', async () => {
    expectCommitted(await net.send('svc_activateCandidacy', { from: candidate }), GAS.activation)
    expect(await validator(candidate)).toMatchObject({ active: 'Y', state: 'Validator' })
  })

  test('updateAccount and acceptAccountUpdate: the request id binds the candidacy to the new address', async () => {
    const asked = await net.send('svc_updateCandidacyAccount', { from: candidate, newCandidateAccount: heir })
    expectCommitted(asked, GAS.update, Buffer.from('1').toString('base64'))
    const accountUpdateRequestId = Number(Buffer.from(dataOf(asked), 'base64').toString())
    expectCommitted(
      await net.send('svc_acceptCandidacyAccountUpdate', { from: heir, accountUpdateRequestId }),
      GAS.update,
    )
    expect(await validator(heir)).toMatchObject({ owner_address: heir, pub_key: { value: key } })
    expect(await net.call<One>('svc_queryValidator', [candidate])).toMatchObject({ data: null })
  })

  test('withdraw: svc_withdrawCandidacy ends the candidacy', async () => {
    expectCommitted(await net.send('svc_withdrawCandidacy', { from: heir }), GAS.free)
    expect(await validator(heir)).toMatchObject({ state: 'Withdrawn', shares: '0' })
    expect((await net.call<Listed>('svc_queryValidators')).data.map((one) => one['owner_address'])).toEqual([owner])
  })
})

describe('governance methods', () => {
  const files = { fileUrl: '{"ubuntu":["https://files.example/lib.so"]}', md5: `{"ubuntu":"${'0'.repeat(32)}"}` }

  test('proposeChangeParam and vote: the new value is in force in the block after the approval', async () => {
    const proposed = await net.send('svc_proposeChangeParam', {
      from: owner,
      name: 'max_vals',
      value: '7',
      reason: 'more',
    })
    expectCommitted(proposed, GAS.governance, proposalIdText)
    const id = dataOf(proposed)
    const open = await proposal(id)
    expect(misfits('Proposal object', open)).toEqual([])
    expect(open).toMatchObject({
      Type: 'change_param',
      Proposer: owner,
      Result: '',
      ResultMsg: '',
      ResultBlockHeight: 0,
      ResultAt: '',
    })
    expect(open['Detail']).toEqual({ name: 'max_vals', value: '7', reason: 'more' })
    const voted = await net.send('svc_vote', { from: owner, proposalId: id, answer: 'Y' })
    expectCommitted(voted, GAS.governance)
    await net.waitForHeight(voted.height + 1)
    expect(await proposal(id)).toMatchObject({ Result: 'Approved', ResultBlockHeight: voted.height })
    const at = async (height: number): Promise<unknown> => net.call('svc_queryParams', [height])
    expect(await at(voted.height)).toMatchObject({ height: voted.height, data: { max_vals: 4 } })
    expect(await at(voted.height + 1)).toMatchObject({ height: voted.height + 1, data: { max_vals: 7 } })
  })

  test('proposeDeployLibEni: the ProposalID is answered and the proposal listed', async () => {
    const proposed = await net.send('svc_proposeDeployLibEni', {
      from: owner,
      name: 'lib',
      version: 'v1.0.0',
      ...files,
    })
    expectCommitted(proposed, GAS.governance, proposalIdText)
    expect(misfits('Proposal object', await proposal(dataOf(proposed)))).toEqual([])
    await reject(dataOf(proposed))
  })

  test('proposeRetireProgram: the ProposalID is answered and the proposal listed', async () => {
    const preservedValidators = String(((await validator(owner))['pub_key'] as Json)['value'])
    const proposed = await net.send('svc_proposeRetireProgram', { from: owner, preservedValidators })
    expectCommitted(proposed, GAS.governance, proposalIdText)
    expect(misfits('Proposal object', await proposal(dataOf(proposed)))).toEqual([])
    await reject(dataOf(proposed))
  })

  test('proposeUpgradeProgram: is answered as not implemented', async () => {
    const asked = await net.send('svc_proposeUpgradeProgram', {
      from: owner,
      name: 'svcd',
      version: 'v2.0.0',
      ...files,
    })
    expectRefused(asked, 4, 'proposeUpgradeProgram is not implemented')
  })

  test('listProposals: transfer_fund shows its Detail, and all are listed in the order of their blocks', async () => {
    const payment = { transferFrom: owner, transferTo: stranger, amount: '5', reason: 'r' }
    const proposed = await net.commit('svc_proposeTransferFund', { from: owner, ...payment })
    const { height, data } = await net.call<Listed>('svc_queryProposals')
    expect(height).toBeGreaterThanOrEqual(proposed.height)
    expect(data.at(-1)).toMatchObject({
      Id: dataOf(proposed),
      Type: 'transfer_fund',
      Detail: { amount: '5', from: owner, to: stranger, reason: 'r' },
    })
    expect(data.map((one) => Number(one['BlockHeight']))).toEqual(
      data.map((one) => Number(one['BlockHeight'])).sort((a, b) => a - b),
    )
    await reject(dataOf(proposed))
  })

  test('getParams: svc_queryParams answers the head and every system parameter', async () => {
    const { height, data } = await net.call<One>('svc_queryParams')
    expect(height).toBeGreaterThan(0)
    expect(misfits('System parameters object', data as Json)).toEqual([])
    const { error } = await net.ask('svc_queryParams', [height + 1_000_000])
    expect(error?.code).toBe(-32602)
  })

  test('a proposal that nobody votes on is Expired in the block of its ExpireBlockHeight', async () => {
    // Far enough that it is proposed and seen open before on a busy machine.
    const expireBlockHeight = (await net.height()) + 50
    const id = dataOf(
      await net.commit('svc_proposeChangeParam', { from: owner, name: 'max_vals', value: '5', expireBlockHeight }),
    )
    expect(await proposal(id)).toMatchObject({ Result: '', ExpireBlockHeight: expireBlockHeight })
    await net.waitForHeight(expireBlockHeight)
    const expired = await proposal(id)
    expect(misfits('Proposal object', expired)).toEqual([])
    expect(expired).toMatchObject({ Result: 'Expired', ResultBlockHeight: expireBlockHeight })
  })
})

// client.test.ts has every row of the table of errors.
describe('what is refused', () => {
  test('from says who acts: without it, or without its key, nothing is sent', async () => {
    const nonce = await net.call('svc_getTransactionCount', [owner])
    const { error: missing } = await net.ask('svc_transfer', [{ to: owner, value: '1' }])
    expect(missing).toMatchObject({ code: -32602, message: expect.stringMatching(/^from: /) })
    const { error: unknown } = await net.ask('svc_transfer', [{ from: `0x${'77'.repeat(20)}`, to: owner, value: '1' }])
    expect(unknown?.code).toBe(-32010)
    await net.waitForHeight((await net.height()) + 1)
    expect(await net.call('svc_getTransactionCount', [owner])).toBe(nonce)
  })

  test('svc_getShortfall tells what a balance lacked for the shares of a hand-over', async () => {
    const asked = await net.commit('svc_updateCandidacyAccount', { from: owner, newCandidateAccount: stranger })
    const accountUpdateRequestId = Number(Buffer.from(dataOf(asked), 'base64').toString())
    const accepted = await net.send('svc_acceptCandidacyAccountUpdate', { from: stranger, accountUpdateRequestId })
    expectRefused(accepted, 20, 'Insufficient bond shares')
    const shortfall = await net.call<Json>('svc_getShortfall', [accepted.hash])
    expect(shortfall).toMatchObject({ account: stranger, available: await net.call('svc_getBalance', [stranger]) })
    expect(BigInt(String(shortfall['needed']))).toBeGreaterThan(BigInt(String(shortfall['available'])))
  })

  test('a transaction that fails only in its block has height 0, and code and log in deliver_tx too; its nonce is used up', async () => {
    // CheckTx judges at the head's time: a point in the next second is good there, and past in the first block of that
    // second.
    const failed = async (): Promise<{ readonly nonce: number; readonly result: TransactionResult }> => {
      // On a busy machine most of them are past before CheckTx sees them.
      for (let tries = 0; tries < 400; tries++) {
        const nonce = await net.call<number>('svc_getTransactionCount', [owner])
        const head = Date.parse((await net.call<{ time: string }>('svc_status')).time) / 1000
        const result = await net.send('svc_proposeChangeParam', {
          from: owner,
          name: 'max_vals',
          value: '6',
          expireTimestamp: head + 1,
        })
        if (result.deliver_tx.code !== undefined) return { nonce, result }
      }
      throw new Error('every block came in time')
    }
    const { nonce, result } = await failed()
    await net.waitForIndex(await net.height())
    const failure = { code: 20, log: 'Invalid expire timestamp', fee: {} }
    expect(result).toEqual({ height: 0, hash: result.hash, check_tx: failure, deliver_tx: failure })
    expect(await net.call('svc_getTransactionCount', [owner])).toBe(nonce + 1)
    const found = await net.call<{ height: number }>('svc_getTransaction', [result.hash])
    const told = { hash: result.hash, sender: owner, nonce, operation: 'proposeChangeParam' }
    expect(found).toMatchObject({ ...told, check_tx: failure, deliver_tx: failure })
    expect(found.height).toBeGreaterThan(0)
  })
})

interface Row {
  readonly height: number
  readonly time: string
  readonly hash: string | null
  readonly operation?: string
  readonly type?: string
  readonly attributes?: Json
}
interface HistoryPage {
  readonly data: readonly Row[]
  readonly next: string | null
}

describe('blocks and histories', () => {
  /** All rows, page by page. */
  const all = async (method: string, who: Json, limit: number): Promise<readonly Row[]> => {
    const rows: Row[] = []
    for (let before: string | undefined; ; ) {
      const page = await net.call<HistoryPage>(method, { ...who, limit, before })
      expect(page.data.length).toBeLessThanOrEqual(limit)
      rows.push(...page.data)
      if (page.next === null) return rows
      before = page.next
    }
  }

  test('svc_getTransactions pages through what an account sent and received, the newest first and each once', async () => {
    const [from, to] = [stranger, `0x${'77'.repeat(20)}`]
    const sent = await Promise.all(
      Array.from({ length: 25 }, () => net.commit('svc_transfer', { from, to, value: '1' })),
    )
    await net.waitForIndex(Math.max(...sent.map(({ height }) => height)))
    const { data, next } = await net.call<HistoryPage>('svc_getTransactions', [to])
    expect([data.length, typeof next]).toEqual([20, 'string'])
    const rows = await all('svc_getTransactions', { address: to }, 4)
    expect(rows.map(({ hash }) => hash).toSorted()).toEqual(sent.map(({ hash }) => hash).toSorted())
    expect(rows.map(({ height }) => height)).toEqual(sent.map(({ height }) => height).toSorted((a, b) => b - a))
    expect(await all('svc_getTransactions', { address: to }, 100)).toEqual(rows)
    expect(rows.slice(0, 20)).toEqual(data)
    expect(rows[0]).toMatchObject({ operation: 'transfer', sender: from, time: expect.stringMatching(/Z$/) })
    // Whatever comes later, a page stays what it is.
    await net.commit('svc_transfer', { from, to, value: '1' })
    const again = await net.call<HistoryPage>('svc_getTransactions', { address: to, before: next })
    expect(again).toMatchObject({ data: rows.slice(20), next: null })
    const whole = await all('svc_getTransactions', {}, 100)
    expect(whole.filter(({ hash }) => sent.some((one) => one.hash === hash))).toEqual(rows)
    expect(whole.at(-1)?.height).toBe(Math.min(...whole.map(({ height }) => height)))
    const none = { data: [], next: null }
    expect(await net.call('svc_getTransactions', { address: to, before: '1' })).toMatchObject(none)
    expect(await net.call('svc_getTransactions', { address: to, before: '1/999999' })).toMatchObject(none)
  })

  test('a transaction that failed in its block is in the history of its sender', async () => {
    const rows = await all('svc_getTransactions', { address: owner }, 100)
    expect(rows).toContainEqual(
      expect.objectContaining({ operation: 'proposeChangeParam', deliver_tx: expect.objectContaining({ code: 20 }) }),
    )
  })

  test('svc_getValidatorHistory tells what an owner did and what became of it', async () => {
    const rows = await all('svc_getValidatorHistory', { validatorAddress: candidate }, 3)
    expect(await all('svc_getValidatorHistory', { validatorAddress: candidate }, 100)).toEqual(rows)
    const heights = rows.map(({ height }) => height)
    expect(heights).toEqual(heights.toSorted((a, b) => b - a))
    const told = rows.map(({ type, hash }) => [type, hash === null])
    for (const name of ['declare', 'update', 'deactivate', 'activate', 'updateAccount', 'acceptAccountUpdate'])
      expect(told).toContainEqual([`svc.stake.${name}`, false])
    for (const name of ['joined', 'left']) expect(told).toContainEqual([`svc.stake.${name}`, true])
    const votes = await all('svc_getValidatorHistory', { validatorAddress: owner }, 100)
    expect(votes.map(({ type }) => type)).toContain('svc.governance.vote')
  })

  test('svc_getBlock finds a block by its height and by its hash, with its transactions in pages', async () => {
    const from = stranger
    const { height, hash } = await net.commit('svc_transfer', { from, to: heir, value: '1' })
    const block = await net.call<{ hash: string; transactions: Json[] } & Json>('svc_getBlock', [height])
    expect(block).toMatchObject({ height, transactions: [{ hash, height, index: 0, sender: from }] })
    // A height that is a multiple of 50 tells of its award.
    expect(block['events']).toHaveLength(height % 50 === 0 ? 1 : 0)
    const { time, transactions, ...header } = block
    expect(header).toMatchObject({ transaction_count: 1, parent_hash: expect.stringMatching(/^[0-9A-F]{64}$/) })
    expect(await net.call('svc_getBlock', [block.hash])).toEqual(block)
    expect(await net.call('svc_getBlock', { block: `0x${block.hash}`, offset: 1 })).toEqual({
      ...header,
      time,
      transactions: [],
    })
    await net.waitForIndex(height)
    expect(await net.call('svc_getTransaction', [hash])).toEqual(transactions[0])
    for (const none of [height + 100_000, 0, 'ab'.repeat(32)]) expect(await net.call('svc_getBlock', [none])).toBeNull()
    expect((await net.call<{ height: number }>('svc_getBlock', ['latest'])).height).toBeGreaterThanOrEqual(height)
  })
})

test('a declared candidate joins the validator set of CometBFT two blocks later and leaves it two blocks after deactivate', async () => {
  const pubKey = newKey()
  const powerAt = async (height: number): Promise<number | undefined> => {
    await net.waitForHeight(height)
    const { validators } = await askNode<{
      validators: { pub_key: { value: string }; voting_power: string }[]
    }>({ rpc: net.node.url }, `validators?height=${height}&per_page=100`)
    const found = validators.find((one) => one.pub_key.value === pubKey)
    return found === undefined ? undefined : Number(found.voting_power)
  }
  const joined = await net.commit('svc_declareCandidacy', { from: candidate, pubKey })
  expect((await validator(candidate))['voting_power']).toBe(1000)
  expect(await powerAt(joined.height + 1)).toBeUndefined()
  // No node holds this key, so it never signs (protocol.md §4.4).
  expect(await powerAt(joined.height + 2)).toBe(1)
  const left = await net.commit('svc_deactivateCandidacy', { from: candidate })
  expect(await powerAt(left.height + 1)).toBe(1)
  expect(await powerAt(left.height + 2)).toBeUndefined()
})
