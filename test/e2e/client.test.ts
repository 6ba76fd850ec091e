import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { Svc, type SvcTxError, type TransactionResult } from '../../src/client/index.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { misfits, tableOf } from '../conformance/interfaceTables.ts'
import { type Devnet, makePlace, startDevnet } from './support/devnet.ts'
import { expectCommitted, expectRefused, GAS, proposalIdText } from './support/expect.ts'
import { testFolder } from './support/testFolder.ts'

type Json = Readonly<Record<string, unknown>>
interface Answer {
  readonly height: number
  readonly data: unknown
}
type Call = (path: string, ...args: readonly unknown[]) => Promise<unknown>

const folder = testFolder(() => net.stop())
let net: Devnet
let addresses: readonly string[] = []

beforeAll(async () => {
  net = await startDevnet(await makePlace(folder), ['--os', 'ubuntu'])
  addresses = await net.call<string[]>('svc_accounts')
})

const functionAt = (root: object, path: string): ((...args: readonly unknown[]) => unknown) =>
  path.split('.').reduce<unknown>((node, name) => (node as Json)[name], root) as never

/** The callback form: what its first argument or else its second one brings. */
const callback =
  (svc: Svc): Call =>
  (path, ...args) =>
    new Promise((done) => {
      const answered = functionAt(svc, path)(...args, (error: unknown, result: unknown) => done(error ?? result))
      expect(answered).toBeUndefined()
    })

const synchronous =
  (svc: Svc): Call =>
  async (path, ...args) => {
    const result = functionAt(svc, path)(...args)
    expect(result).not.toHaveProperty('then')
    return result
  }

/** The promise form: what it resolves with, or the result that its SvcTxError carries. */
const promise =
  (svc: Svc): Call =>
  (path, ...args) =>
    (functionAt(svc.async, path)(...args) as Promise<unknown>).catch((error: SvcTxError) =>
      error.name === 'SvcTxError' ? error.result : Promise.reject(error),
    )

const newKey = (): string => randomBytes(32).toString('base64')
const dataOf = (result: TransactionResult): string => String(result.deliver_tx.data)
const md5 = `{"ubuntu":"${'0'.repeat(32)}"}`
const fileUrl = '{"ubuntu":["https://files.example/lib.so"]}'

/** All 16 functions of the interface, with inputs that only this run has; the result of each. */
async function allFunctions(call: Call, run: number, [candidate, heir]: readonly [string, string]): Promise<Json> {
  const owner = addresses[0]
  const seen: Record<string, unknown> = {}
  const made = async (name: string, ...args: readonly unknown[]): Promise<TransactionResult> =>
    (seen[name] = await call(name, ...args)) as TransactionResult
  const reject = (id: string): Promise<unknown> => call('governance.vote', { from: owner, proposalId: id, answer: 'N' })
  await made('stake.validator.declare', { from: candidate, pubKey: newKey(), description: { name: `run ${run}` } })
  seen['stake.validator.query'] = await call('stake.validator.query', candidate)
  seen['stake.validator.list'] = await call('stake.validator.list')
  await made('stake.validator.update', { from: candidate, description: { name: `run ${run} again` } })
  await made('stake.validator.deactivate', { from: candidate })
  await made('stake.validator.activate', { from: candidate })
  const asked = await made('stake.validator.updateAccount', { from: candidate, newCandidateAccount: heir })
  const accountUpdateRequestId = Number(Buffer.from(dataOf(asked), 'base64').toString())
  await made('stake.validator.acceptAccountUpdate', { from: heir, accountUpdateRequestId })
  await made('stake.validator.withdraw', { from: heir })
  const value = String(10 + run)
  const change = await made('governance.proposeChangeParam', {
    from: owner,
    name: 'max_vals',
    value,
    reason: `run ${run}`,
  })
  await made('governance.vote', { from: owner, proposalId: dataOf(change), answer: 'N' })
  await reject(
    dataOf(
      await made('governance.proposeDeployLibEni', {
        from: owner,
        name: `lib-${run}`,
        version: 'v1.0.0',
        fileUrl,
        md5,
      }),
    ),
  )
  const { data } = (await call('stake.validator.query', owner)) as { data: { pub_key: { value: string } } }
  const preservedValidators = data.pub_key.value
  await reject(
    dataOf(await made('governance.proposeRetireProgram', { from: owner, preservedValidators, reason: `run ${run}` })),
  )
  await made('governance.proposeUpgradeProgram', { from: owner, name: `svcd-${run}`, version: 'v2.0.0', fileUrl, md5 })
  seen['governance.listProposals'] = await call('governance.listProposals')
  seen['governance.getParams'] = await call('governance.getParams', 1)
  return seen
}

const GAS_OF: Readonly<Record<string, readonly [gas: number, data?: unknown]>> = {
  'stake.validator.declare': [GAS.declare],
  'stake.validator.update': [GAS.update],
  'stake.validator.deactivate': [GAS.activation],
  'stake.validator.activate': [GAS.activation],
  'stake.validator.updateAccount': [GAS.update, expect.stringMatching(/^[A-Za-z0-9+/]+=*$/)],
  'stake.validator.acceptAccountUpdate': [GAS.update],
  'stake.validator.withdraw': [GAS.free],
  'governance.proposeChangeParam': [GAS.governance, proposalIdText],
  'governance.vote': [GAS.governance],
  'governance.proposeDeployLibEni': [GAS.governance, proposalIdText],
  'governance.proposeRetireProgram': [GAS.governance, proposalIdText],
}

describe('the 16 functions of the interface', () => {
  const interfaceCalls = ['stake.validator', 'governance'].flatMap((module) =>
    tableOf(`web3.svc.${module}`).map(({ cells }) => `${module}.${/^\w+/.exec(cells['Function'] as string)?.[0]}`),
  )
  // Candidate and heir are signed for by the client, the owner of the genesis validator by the gateway.
  const client = (run: number): { readonly svc: Svc; readonly pair: readonly [string, string] } => {
    const svc = new Svc(net.url)
    return { svc, pair: [svc.accounts.add(PUBLIC_MNEMONIC, 1 + run), svc.accounts.add(PUBLIC_MNEMONIC, 4 + run)] }
  }

  test.each([
    ['with a callback', callback, 0],
    ['synchronous', synchronous, 1],
    ['as promises', promise, 2],
  ] as const)('%s: answer in the shapes, with the codes and logs of the interface', async (_name, form, run) => {
    const { svc, pair } = client(run)
    const seen = await allFunctions(form(svc), run, pair)
    expect(Object.keys(seen).sort()).toEqual([...interfaceCalls].sort())
    expect(interfaceCalls).toHaveLength(16)
    for (const [name, [gas, data]] of Object.entries(GAS_OF)) expectCommitted(seen[name] as never, gas, data)
    expectRefused(seen['governance.proposeUpgradeProgram'] as never, 4, 'proposeUpgradeProgram is not implemented')
    const answer = (name: string): Answer => seen[name] as Answer
    const rowsOf = (name: string): readonly Json[] => answer(name).data as readonly Json[]
    expect(answer('stake.validator.query').height).toBeGreaterThan(0)
    expect(answer('stake.validator.query').data).toMatchObject({
      owner_address: pair[0],
      description: { name: `run ${run}` },
    })
    expect(rowsOf('stake.validator.list').map((row) => misfits('Validator object', row))).toEqual([[], []])
    expect(rowsOf('governance.listProposals').at(-1)).toMatchObject({
      Type: 'retire_program',
      Detail: { reason: `run ${run}` },
    })
    expect(answer('governance.getParams')).toMatchObject({ height: 1 })
    expect(misfits('System parameters object', answer('governance.getParams').data as Json)).toEqual([])
  })
})

describe('stake.delegator', () => {
  const amount = '5000000000000000000'

  test.each([
    ['with a callback', callback, 0],
    ['synchronous', synchronous, 1],
    ['as promises', promise, 2],
  ] as const)('%s: accept, query and withdraw, signed for by the client', async (_name, form, run) => {
    const svc = new Svc(net.url)
    const from = svc.accounts.add(PUBLIC_MNEMONIC, 7 + run)
    const call = form(svc)
    const of = { from, validatorAddress: addresses[0] }
    expectCommitted((await call('stake.delegator.accept', { ...of, amount })) as never, GAS.delegation)
    const staked = (await call('stake.delegator.query', from)) as Answer
    expect(staked.data).toMatchObject([
      { delegator_address: from, validator_address: addresses[0], delegate_amount: amount, pending: [] },
    ])
    expectCommitted((await call('stake.delegator.withdraw', { ...of, amount: 7 })) as never, GAS.delegation)
    expectCommitted(
      (await call('stake.delegator.withdraw', { ...of, completelyWithdraw: 'Y' })) as never,
      GAS.delegation,
    )
    expect(((await call('stake.delegator.query', from, 1)) as Answer).data).toMatchObject([
      { shares: '0', pending: expect.any(Array) },
    ])
    expectRefused((await call('stake.delegator.withdraw', { ...of, amount: 7 })) as never, 21, 'No delegation')
    const { data } = (await call('stake.validator.queryStake', addresses[0])) as { data: Json }
    expect(BigInt(String(data['pending']))).toBeGreaterThanOrEqual(BigInt(amount))
    expect(await call('stake.validator.queryDelegations', addresses[0])).toMatchObject({ data: expect.any(Array) })
  })
})

describe('the errors of the interface', () => {
  const rows = tableOf('Errors').map(
    ({ cells: { Operation = '', 'check_tx.code': code, 'check_tx.log': log = '' } }) =>
      [Operation, Number(code), log] as const,
  )
  const inputs: Record<string, readonly [path: string, input: Json]> = {}
  let svc: Svc

  beforeAll(async () => {
    svc = new Svc(net.url)
    const {
      stake: { validator },
      governance,
    } = svc.async
    const [owner = '', rich = '', stranger = '', loser = '', spender = ''] = [
      addresses[0],
      addresses[6],
      addresses[7],
      addresses[8],
      addresses[9],
    ]
    const pubKey = String((await validator.query(owner)).data?.pub_key.value)
    const asked = await validator.updateAccount({ from: owner, newCandidateAccount: stranger })
    const accountUpdateRequestId = Number(Buffer.from(dataOf(asked), 'base64').toString())
    await validator.declare({ from: loser, pubKey: newKey() })
    await validator.deactivate({ from: loser })
    const { height } = await validator.declare({ from: spender, pubKey: newKey() })
    await net.waitForHeight(height + 1)
    const proposalId = dataOf(await governance.proposeChangeParam({ from: owner, name: 'max_vals', value: '50' }))
    await governance.proposeRetireProgram({ from: owner, preservedValidators: pubKey })
    // The owner alone may propose: its key signs. With room below max_shares, awards leave its balance at 0.
    const shares = BigInt((await validator.query(owner)).data?.shares ?? 0)
    await validator.update({ from: owner, maxAmount: 2n * shares })
    const fee = BigInt(GAS.transfer) * 2_000_000_000n
    for (const from of [spender, owner])
      await svc.async.transfer({ from, to: rich, value: BigInt(await svc.async.getBalance(from)) - fee })
    const library = {
      name: 'lib',
      version: 'v9.0.0',
      fileUrl: fileUrl.replace('ubuntu', 'centos'),
      md5: md5.replace('ubuntu', 'centos'),
    }
    Object.assign(inputs, {
      declare: ['stake.validator.declare', { from: stranger, pubKey }],
      update: ['stake.validator.update', { from: stranger }],
      withdraw: ['stake.validator.withdraw', { from: stranger }],
      activate: ['stake.validator.activate', { from: owner }],
      deactivate: ['stake.validator.deactivate', { from: loser }],
      updateAccount: ['stake.validator.updateAccount', { from: stranger, newCandidateAccount: owner }],
      acceptAccountUpdate: ['stake.validator.acceptAccountUpdate', { from: stranger, accountUpdateRequestId }],
      proposeChangeParam: ['governance.proposeChangeParam', { from: owner, name: 'max_vals', value: '9' }],
      vote: ['governance.vote', { from: spender, proposalId, answer: 'Y' }],
      proposeDeployLibEni: ['governance.proposeDeployLibEni', { from: owner, ...library }],
      proposeRetireProgram: ['governance.proposeRetireProgram', { from: owner, preservedValidators: pubKey }],
    })
  })

  test('the table has a row for each of these inputs', () => {
    expect(rows.map(([operation]) => operation).sort()).toEqual(Object.keys(inputs).sort())
  })

  test.each(rows)('%s: the result object is the first argument of the callback', async (operation, code, log) => {
    const [path, input] = inputs[operation] as readonly [string, Json]
    const args = await new Promise<unknown[]>((done) => {
      functionAt(svc, path)(input, (...told: unknown[]) => done(told))
    })
    expect(args.slice(1)).toEqual([undefined])
    expectRefused(args[0] as never, code, log)
  })

  test.each(rows)('%s: the result object is what the synchronous form returns', (operation, code, log) => {
    const [path, input] = inputs[operation] as readonly [string, Json]
    expectRefused(functionAt(svc, path)(input) as never, code, log)
  })
})
