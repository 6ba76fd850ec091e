import { expect, test } from '@jest/globals'
import { proposals } from '../../../src/modules/governance/tables.ts'
import { account, type TestChain } from '../../support/testChain.ts'
import { govChain, proposed, retire, shown, voted } from './support.ts'

const active = (chain: TestChain): Record<string, unknown> =>
  Object.fromEntries(
    (chain.query('/stake/validators') as { owner_address: string; active: string; updated_at: string }[]).map((row) => [
      row.owner_address,
      row.active,
    ]),
  )

const addresses = (...numbers: readonly number[]) => numbers.map((number) => account(number).address)

test('at its point an approved retirement deactivates who is not preserved, raises the version and tells the node after the commit', () => {
  const told: unknown[] = []
  const chain: TestChain = govChain(
    [40, 30, 20, 10],
    {},
    { app: { onRetired: (...args) => told.push([...args, chain.store.height()]) } },
  )
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([1, 3], { retiredBlockHeight: 6, reason: 'r' }))
  voted(chain, account(1), id)
  voted(chain, account(2), id)
  expect(shown(chain, id)).toMatchObject({
    Result: 'Approved',
    ResultBlockHeight: 4,
    Detail: { status: 'init', retired_version: '1' },
  })
  chain.block()
  expect(new Set(Object.values(active(chain)))).toEqual(new Set(['Y']))
  const { validatorUpdates } = chain.finalize()
  expect(validatorUpdates?.map(({ power }) => power)).toEqual([0, 0])
  expect(told).toEqual([])
  chain.block()
  expect(told).toEqual([[1, 6, 6]])
  const [one, two, three, four] = addresses(1, 2, 3, 4) as unknown as [string, string, string, string]
  expect(active(chain)).toEqual({ [one]: 'Y', [two]: 'N', [three]: 'Y', [four]: 'N' })
  expect((chain.query(`/stake/validator/${two}`) as { updated_at: string }).updated_at).toBe('2023-11-14T22:13:26Z')
  expect((chain.query(`/stake/validator/${one}`) as { updated_at: string }).updated_at).toBe('2023-11-14T22:13:20Z')
  expect(shown(chain, id)).toMatchObject({
    Result: 'Approved',
    ResultBlockHeight: 4,
    Detail: {
      retired_version: '1',
      preserved_validators: retire([1, 3])['preservedValidators'],
      reason: 'r',
      status: 'success',
    },
  })
  chain.block()
  expect(told).toHaveLength(1)
  // The counter went up: another retirement is of version 2, and nothing stands against it.
  const next = proposed(chain, account(1), 'proposeRetireProgram', retire([1]))
  expect(shown(chain, next).Detail['retired_version']).toBe('2')
})

test('without an eligible preserved validator at its point it becomes Rejected, keeps its tally, and the program goes on', () => {
  const told: unknown[] = []
  const chain = govChain([40, 30, 30], {}, { app: { onRetired: () => told.push(1) } })
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([3], { retiredBlockHeight: 8 }))
  voted(chain, account(1), id)
  voted(chain, account(2), id)
  expect(chain.deliver(account(3), 'deactivateCandidacy').code).toBe(0)
  chain.advanceTo(7)
  const { response } = chain.block()
  expect(response.events?.[0]).toEqual({
    type: 'svc.governance.resolved',
    attributes: [
      { key: 'proposal_id', value: id, index: true },
      { key: 'result', value: 'Rejected', index: true },
    ],
  })
  expect(shown(chain, id)).toMatchObject({
    Result: 'Rejected',
    ResultMsg: 'No preserved validator is active',
    ResultBlockHeight: 8,
    ResultAt: '2023-11-14T22:13:28Z',
    Tally: { Yes: 70, No: 0, Total: 100 },
    Detail: { status: 'rejected' },
  })
  expect(Object.values(active(chain)).filter((flag) => flag === 'Y')).toHaveLength(2)
  expect(told).toEqual([])
  expect(chain.deliver(account(1), 'proposeRetireProgram', retire([1])).log).toBe('')
})

test('one eligible preserved validator of several is enough', () => {
  const chain = govChain([40, 40, 20])
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([1, 3], { retiredBlockHeight: 7 }))
  voted(chain, account(1), id)
  voted(chain, account(2), id)
  expect(chain.deliver(account(3), 'withdrawCandidacy').code).toBe(0)
  chain.advanceTo(7)
  expect(shown(chain, id).Detail['status']).toBe('success')
  const [one, two] = addresses(1, 2) as unknown as [string, string]
  expect(active(chain)).toEqual({ [one]: 'Y', [two]: 'N' })
})

test('a retirement that two thirds vote for in the block of its point is carried out in it', () => {
  const told: unknown[] = []
  const chain = govChain([100, 10], {}, { app: { onRetired: (...args) => told.push(args) } })
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([1], { retiredBlockHeight: 3 }))
  voted(chain, account(1), id)
  expect(shown(chain, id)).toMatchObject({ Result: 'Approved', ResultBlockHeight: 3, Detail: { status: 'success' } })
  expect(told).toEqual([[1, 3]])
})

test('a rejected or expired retirement shows rejected, and another may be proposed', () => {
  const chain = govChain([60, 40])
  const expired = proposed(chain, account(1), 'proposeRetireProgram', retire([1], { retiredBlockHeight: 3 }))
  chain.block()
  expect(shown(chain, expired)).toMatchObject({ Result: 'Expired', Detail: { status: 'rejected' } })
  const rejected = proposed(chain, account(1), 'proposeRetireProgram', retire([2]))
  voted(chain, account(1), rejected, 'N')
  voted(chain, account(2), rejected, 'N')
  expect(shown(chain, rejected)).toMatchObject({ Result: 'Rejected', ResultMsg: '', Detail: { status: 'rejected' } })
  expect(chain.deliver(account(1), 'proposeRetireProgram', retire([1])).log).toBe('')
})

test('the bytes of a proposal are read with every status and result that it may have, and with no other', () => {
  const chain = govChain([60, 40])
  proposed(chain, account(1), 'proposeRetireProgram', retire([1]))
  const [proposal] = chain.store.scan(proposals)
  if (proposal === undefined) throw new Error('it is not there')
  const again = (over: object) =>
    proposals.decode(proposal, proposals.encode({ ...proposal, ...over } as typeof proposal))
  for (const status of ['', 'init', 'success', 'rejected'])
    for (const result of ['', 'Approved', 'Rejected', 'Expired'])
      expect(again({ status, result })).toEqual({ ...proposal, status, result })
  expect(() => again({ status: 'gone' })).toThrow('gone')
  expect(() => again({ result: 'Gone' })).toThrow('Gone')
})
