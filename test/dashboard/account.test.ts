/** What an account has, as far as it is known. */
import { drawn } from './fakeDom.ts'
import { afterEach, beforeEach, jest, test } from '@jest/globals'
import { h } from 'preact'
import { until } from '../../bench/until.ts'
import { svc } from '../../src/dashboard/data/gateway.ts'
import { MyAccount } from '../../src/dashboard/pages/MyAccount.tsx'
import { addKey, lock } from '../../src/dashboard/wallet/wallet.ts'

const { validator, delegator } = svc.async.stake

beforeEach(() => {
  // What the tests do not answer fails.
  Object.assign(globalThis, { fetch: () => Promise.reject(new Error('away')) })
  jest.spyOn(svc, 'subscribe').mockResolvedValue({ unsubscribe: () => {} })
})
afterEach(() => {
  jest.restoreAllMocks()
  lock()
})

test('nothing is said to be 0 before it is known', async () => {
  jest.spyOn(svc.async, 'getBalance').mockResolvedValue('5000000000000000000')
  jest.spyOn(validator, 'queryUnbonding').mockResolvedValue({ height: 9, data: [] })
  const stakes = Promise.withResolvers<Awaited<ReturnType<typeof delegator.query>>>()
  jest.spyOn(delegator, 'query').mockReturnValue(stakes.promise)
  addKey(new Uint8Array(32).fill(7), 'key')
  const { text, end } = drawn(h(MyAccount, {}))
  const shows = (words: string): Promise<true> =>
    until(
      () => text().includes(words),
      20_000,
      () => text(),
    )
  await shows('Balance5token')
  await shows('Staked…token with  validatorsEarned…token, staked with the restUnbonding…token')
  stakes.resolve({ height: 9, data: [] })
  await shows('Staked0token with 0 validatorsEarned0token, staked with the restUnbonding0token')
  end()
})
