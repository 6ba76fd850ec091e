import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { TransactionResult } from '../../src/tx/result.ts'
import { startPair } from '../gateway/support.ts'
import { account, CHAIN_ID, type TestChain } from '../support/testChain.ts'
import { delegator, type Refusal, refusals, rulesOfTable } from './delegation.ts'
import { conformanceChain, perform } from './support.ts'

const rules = rulesOfTable()
const cases = refusals.map((refusal) => [`${refusal.operation}: ${refusal.name}`, refusal] as const)

/** What the table says that a refusal comes to. */
function expected({ operation, rule }: Refusal): object {
  const { code = 0, log = '' } = rules[operation]?.[rule] ?? {}
  const begin = log.replace(/…$/, '').trim()
  return { code, log: log.endsWith('…') ? expect.stringContaining(begin) : log }
}

test('every rule of the table of operations has a refusal, in the order of the table', () => {
  expect(rules['delegate']).toHaveLength(6)
  expect(rules['withdraw']).toHaveLength(4)
  for (const [operation, listed] of Object.entries(rules)) {
    const mine = refusals.filter((one) => one.operation === operation).map(({ rule }) => rule)
    expect([...new Set(mine)]).toEqual(listed.map((_, at) => at))
    expect(mine).toEqual([...mine].sort((a, b) => a - b))
  }
})

describe('in process', () => {
  test.each(cases)('%s', (_name, refusal) => {
    const { operation, members, on = conformanceChain, sender = delegator } = refusal
    const chain = on()
    const before = chain.query('/stake/validators')
    expect(perform(chain, sender, `svc_${operation}`, members)).toEqual({
      ...expected(refusal),
      data: '',
      height: 0,
    })
    expect(chain.query('/stake/validators')).toEqual(before)
  })
})

/** A gateway before a node whose application is the chain that a test chooses. */
describe('through a gateway', () => {
  let chain: TestChain
  let pair: Awaited<ReturnType<typeof startPair>>
  beforeAll(async () => {
    chain = conformanceChain()
    pair = await startPair(
      {
        chainId: CHAIN_ID,
        check: (_tx, bytes) => {
          const { code = 0, log = '' } = chain.check(bytes)
          return { code, log }
        },
        deliver: (_tx, bytes) => {
          const { code = 0, log = '', gasUsed = 0 } = chain.block({ txs: [bytes] }).results[0] ?? {}
          return { code, log, gas: Number(gasUsed) }
        },
        query: (path) => {
          if (!/^\/(?:accounts|stake)\//.test(path)) return {}
          const { code = 0, log = '' } = chain.abciQuery(path)
          return code === 0 ? { data: chain.query(path) } : { code, log }
        },
      },
      { signers: [1, 2, 3, 4, 5, 6].map(account) },
    )
  })
  afterAll(() => pair.close())

  /** Puts this chain behind the gateway. */
  const stand = (on: TestChain): void => {
    chain = on
    for (let number = 1; number <= 6; number++)
      pair.node.ledger.nonces.set(account(number).address, chain.nonceOf(account(number)))
  }

  test('a refusal is answered with the code and the log of CheckTx', async () => {
    stand(conformanceChain())
    const [refusal] = refusals as readonly [Refusal, ...Refusal[]]
    const given = Object.fromEntries(Object.entries(refusal.members).map(([name, value]) => [name, String(value)]))
    const { result } = await pair.rpc(`svc_${refusal.operation}`, [{ from: delegator.address, ...given }])
    expect(result).toMatchObject({ height: 0, check_tx: { ...expected(refusal), fee: {} }, deliver_tx: { fee: {} } })
  })

  test("what is delegated and taken back is committed, in the predecessor's form of the calls too", async () => {
    stand(conformanceChain())
    const from = delegator.address
    // Its client writes amounts as 0x-hex, and gives the height 0 where none is asked for.
    const amounts = { svc_delegate: '0x3782dace9d900000', svc_withdraw: '0x1bc16d674ec80000' }
    for (const [method, amount] of Object.entries(amounts)) {
      const members = { from, validatorAddress: account(3).address, amount }
      const { deliver_tx, height } = (await pair.rpc(method, [members])).result as TransactionResult
      expect([method, deliver_tx.gasUsed, height > 0]).toEqual([method, '63000', true])
    }
    const { data } = (await pair.rpc('svc_queryDelegator', [from, 0])).result as { data: unknown }
    expect(data).toMatchObject([{ delegator_address: from, pending: [{ amount: '2000000000000000000' }] }])
  })
})
