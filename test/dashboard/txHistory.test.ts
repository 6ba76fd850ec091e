import './browser.ts'
import { expect, test } from '@jest/globals'

const { isOf, movedFor } = await import('../../src/dashboard/data/txHistory.ts')

type Tx = Parameters<typeof isOf>[0]

const [me, other] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]

const tx = (operation: string | null, sender: string | null, message: object | null, code = 0): Tx => ({
  height: 3,
  hash: 'AB'.repeat(32),
  index: 0,
  sender,
  nonce: 0,
  operation,
  message: message as Tx['message'],
  check_tx: { fee: {} },
  deliver_tx: { fee: {}, ...(code === 0 ? {} : { code, log: 'no' }) },
})

test.each<[string, bigint | undefined, Tx]>([
  ['a payment to the account', 5n, tx('transfer', other, { to: me, value: '5' })],
  ['a payment of the account', -5n, tx('transfer', me, { to: other, value: '5' })],
  ['a payment to itself', undefined, tx('transfer', me, { to: me, value: '5' })],
  ['a payment that failed', undefined, tx('transfer', me, { to: other, value: '5' }, 20)],
  ['a stake of the account', -7n, tx('delegate', me, { validatorAddress: other, amount: '7' })],
  ['a stake of another with the account', undefined, tx('delegate', other, { validatorAddress: me, amount: '7' })],
  ['a payment that it proposes from itself', -9n, tx('proposeTransferFund', me, { transferFrom: me, amount: '9' })],
  [
    'a payment that it proposes from another',
    undefined,
    tx('proposeTransferFund', me, { transferFrom: other, amount: '9' }),
  ],
  ['a vote', undefined, tx('vote', me, { answer: 'Y' })],
  ['bytes that are no transaction', undefined, tx(null, null, null)],
])('%s brings %s to the balance', (_what, units, given) => {
  expect(movedFor(me, given)).toBe(units)
})

test('a direction is whose doing it was, and an operation is exact', () => {
  const [out, incoming] = [tx('transfer', me, { to: other }), tx('transfer', other, { to: me })]
  const of = (filter: Parameters<typeof isOf>[1]) => [out, incoming].map((one) => isOf(one, filter))
  expect(of({ address: me })).toEqual([true, true])
  expect(of({ address: me, direction: 'out' })).toEqual([true, false])
  expect(of({ address: me, direction: 'in' })).toEqual([false, true])
  expect(of({ address: me, direction: 'in', operation: 'vote' })).toEqual([false, false])
  expect(of({ operation: 'transfer' })).toEqual([true, true])
})
