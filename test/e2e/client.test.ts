import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { Svc, type TransactionResult } from '../../src/client/index.ts'
import { tableOf } from '../conformance/interfaceTables.ts'
import { type Devnet, makePlace, startDevnet } from './support/devnet.ts'
import { expectRefused, GAS } from './support/expect.ts'
import { testFolder } from './support/testFolder.ts'

type Json = Readonly<Record<string, unknown>>

const folder = testFolder(() => net.stop())
let net: Devnet
let addresses: readonly string[] = []

beforeAll(async () => {
  net = await startDevnet(await makePlace(folder), ['--os', 'ubuntu'])
  addresses = await net.call<string[]>('svc_accounts')
})

const functionAt = (root: object, path: string): ((...args: readonly unknown[]) => unknown) =>
  path.split('.').reduce<unknown>((node, name) => (node as Json)[name], root) as never

const newKey = (): string => randomBytes(32).toString('base64')
const dataOf = (result: TransactionResult): string => String(result.deliver_tx.data)
const md5 = `{"ubuntu":"${'0'.repeat(32)}"}`
const fileUrl = '{"ubuntu":["https://files.example/lib.so"]}'

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
    const [owner = ''] = addresses
    const [rich = '', stranger = '', loser = '', spender = ''] = addresses.slice(6)
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
