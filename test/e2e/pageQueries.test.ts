import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Svc } from '../../src/client/index.ts'
import { gatewayClient } from './support/client.ts'
import { svcd } from './support/devnet.ts'
import { startDevnet } from './support/recordedDevnet.ts'

// What a web page asks: docs/decisions/0022.
let devnet: Awaited<ReturnType<typeof startDevnet>>
let svc: Svc
beforeAll(async () => {
  devnet = await startDevnet({ fast: true, balance: '20000000token', params: { gas_price: 0 } })
  svc = new Svc(devnet.url)
  for (const { privateKey } of devnet.accounts) svc.accounts.add(privateKey)
})
afterAll(() => devnet.close())

const at = (index: number): string => devnet.accounts[index]?.address ?? `no account ${index}`

/** Resolves when the index of histories, which may be behind the blocks, has all of them. */
const indexed = async (): Promise<void> => gatewayClient(devnet.url).waitForIndex(await svc.async.blockNumber())

async function query(...args: readonly string[]): Promise<unknown> {
  const { status, stdout, stderr } = await svcd(['query', ...args, '--gateway', devnet.url, '--json'])
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

describe('proposals', () => {
  test('a page of the newest ones of a state and a type says how many there are; without options nothing changed', async () => {
    const ids: string[] = []
    for (const value of ['5', '6', '7']) {
      const { deliver_tx } = await svc.async.governance.proposeChangeParam({ from: at(0), name: 'max_vals', value })
      ids.push(String(deliver_tx.data))
    }
    await svc.async.governance.vote({ from: at(0), proposalId: String(ids[1]), answer: 'Y' })
    const listed = async (members: Parameters<typeof svc.async.governance.listProposals>[0]) => {
      const { data, total } = await svc.async.governance.listProposals(members)
      return [data.map(({ Id }) => ids.indexOf(Id)), total]
    }
    expect(await listed({ newest: true, limit: 2 })).toEqual([[2, 1], 3])
    expect(await listed({ state: 'open', newest: true, offset: 1 })).toEqual([[0], 2])
    expect(await listed({ state: 'Approved', type: 'change_param' })).toEqual([[1], 1])
    expect(await listed({ type: 'transfer_fund' })).toEqual([[], 0])
    expect(await listed({ limit: 1 })).toEqual([[0], undefined])
    expect(Object.keys(await svc.async.governance.listProposals())).toEqual(['height', 'data'])
    expect(svc.governance.listProposals({ state: 'open', limit: 0 })).toMatchObject({ data: [], total: 2 })
    expect(await query('proposals', '--newest', '--state', 'open', '--limit', '1')).toMatchObject({
      data: [{ Id: ids[2] }],
      total: 2,
    })
  })
})

test('the supply, and the history of the parameters, with what was approved last before all others', async () => {
  const { supply, genesis_supply, minted, burned, height } = await svc.async.getSupply()
  expect(BigInt(supply)).toBe(BigInt(genesis_supply) + BigInt(minted) - BigInt(burned))
  expect(height).toBe(await svc.async.blockNumber())
  expect(await query('supply')).toEqual({ height, supply, genesis_supply, minted, burned })
  const { data: approved } = await svc.async.governance.listProposals({ state: 'Approved', type: 'change_param' })
  const { data } = await svc.async.governance.getParamsHistory({ limit: 2 })
  const [first] = data
  expect(first).toEqual({ height_in_force: Number(approved[0]?.ResultBlockHeight) + 1, name: 'max_vals', value: '6' })
  expect(data[1]?.height_in_force).toBe(0)
  expect(await query('params-history', '--limit', '1')).toMatchObject({ data: [first] })
})

test('who may accept a hand-over finds the request, and nobody does afterwards', async () => {
  const [from, to] = [at(1), at(2)]
  await svc.async.stake.validator.declare({ from, pubKey: randomBytes(32).toString('base64') })
  const { deliver_tx } = await svc.async.stake.validator.updateAccount({ from, newCandidateAccount: to })
  const id = Number(atob(String(deliver_tx.data)))
  const pendingOf = async (account: string) => (await svc.async.stake.validator.queryAccountUpdates(account)).data
  const request = { id, status: 'PENDING', from, to, pub_key: expect.any(String) }
  expect([await pendingOf(to), await pendingOf(from), await pendingOf(at(3))]).toEqual([[request], [request], []])
  expect(await query('account-updates', to)).toMatchObject({ data: [request] })
  await svc.async.stake.validator.acceptAccountUpdate({ from: to, accountUpdateRequestId: id })
  expect([await pendingOf(to), await pendingOf(from)]).toEqual([[], []])
  expect((await svc.async.stake.validator.queryAccountUpdate(id)).data).toEqual({ ...request, status: 'COMPLETED' })
  expect(await query('account-update', String(id))).toMatchObject({ data: { status: 'COMPLETED' } })
  expect((await svc.async.stake.validator.queryAccountUpdate(id + 1)).data).toBeNull()
})

describe('awards', () => {
  const awardsOf = async (validatorAddress: string, limit = 20, before?: string): Promise<readonly number[]> => {
    const page = { validatorAddress, limit, ...(before === undefined ? {} : { before }) }
    const { data, next } = await svc.async.getAwards(page)
    expect(data.length).toBeLessThanOrEqual(limit)
    const heights = data.map(({ height }) => height)
    return next === null ? heights : [...heights, ...(await awardsOf(validatorAddress, limit, next))]
  }

  test('are found in every 50th block, the newest first, page by page, and with the amount of that block', async () => {
    const height = await devnet.mine(160)
    await indexed()
    const expected = [...Array(Math.floor(height / 50)).keys()].map((at) => 50 * (at + 1)).reverse()
    expect(await awardsOf(at(0))).toEqual(expected)
    expect(await awardsOf(at(0), 1)).toEqual(expected)
    const { data } = await svc.async.getAwards({ validatorAddress: at(0), limit: 1, before: '120' })
    const block = await svc.async.getBlock(100)
    const [told] = block?.events.filter(({ type }) => type === 'svc.stake.award') ?? []
    expect(data).toEqual([{ height: 100, time: block?.time, amount: told?.attributes['amount'] }])
    expect(told?.attributes['owner']).toBe(at(0))
    const shares = async () => BigInt(String((await svc.async.stake.validator.query(at(0))).data?.shares))
    while ((await svc.async.blockNumber()) % 50 !== 49) await devnet.mine()
    const sharesBefore = await shares()
    await devnet.mine()
    await indexed()
    const [paid] = (await svc.async.getAwards({ validatorAddress: at(0), limit: 1 })).data
    expect(sharesBefore + BigInt(paid?.amount ?? '')).toBe(await shares())
    expect(await query('awards', at(0), '--limit', '1')).toMatchObject({ data: [paid] })
    expect(await awardsOf(at(9))).toEqual([])
  })

  test('are no part of the history of a validator, even where a block has something else to tell of it', async () => {
    const [from, to] = [at(0), at(4)]
    const mineTo = async (rest: number) => {
      while ((await svc.async.blockNumber()) % 50 !== rest) await devnet.mine()
    }
    await mineTo(27)
    await svc.async.stake.validator.declare({ from: to, pubKey: randomBytes(32).toString('base64') })
    await mineTo(29)
    // What this pays out 20 blocks later comes to an owner who then has an award too.
    const { height } = await svc.async.stake.validator.withdraw({ from: to })
    const { deliver_tx } = await svc.async.stake.validator.updateAccount({ from, newCandidateAccount: to })
    await svc.async.stake.validator.acceptAccountUpdate({
      from: to,
      accountUpdateRequestId: Number(atob(String(deliver_tx.data))),
    })
    await mineTo(1)
    await indexed()
    const history = (await svc.async.getValidatorHistory({ validatorAddress: to, limit: 100 })).data
    const inBlock = history.filter((one) => one.height === height + 20)
    expect([height % 50, inBlock.map(({ type }) => type)]).toEqual([30, ['svc.stake.unbonded']])
    expect(history.filter(({ type }) => type === 'svc.stake.award')).toEqual([])
    expect(await awardsOf(to)).toEqual([height + 20])
  })
})
