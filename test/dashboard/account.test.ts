/** What an account has, as far as it is known. */
import { drawn } from './fakeDom.ts'
import { afterEach, beforeEach, jest, test } from '@jest/globals'
import { h } from 'preact'
import { until } from '../../bench/until.ts'
import { svc } from '../../src/dashboard/data/gateway.ts'
import { head, recentBlocks } from '../../src/dashboard/data/chain.ts'
import { MyAccount } from '../../src/dashboard/pages/MyAccount.tsx'
import { Unbonding } from '../../src/dashboard/pages/account/Unbonding.tsx'
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

test('what comes back in a block beyond the calendar stands without a time', async () => {
  const blocks = [1, 2].map((height) => ({ height, time: `2030-01-01T00:00:0${height}Z` }))
  recentBlocks.set(blocks as never)
  head.set(blocks[1] as never)
  const key = { type: 'ed25519', value: 'key' }
  const entry = { amount: '1', completion_height: Number.MAX_SAFE_INTEGER, pub_key: key }
  jest.spyOn(validator, 'queryUnbonding').mockResolvedValue({ height: 2, data: [entry] } as never)
  jest.spyOn(delegator, 'query').mockResolvedValue({ height: 2, data: [] })
  const { text, end } = drawn(h(Unbonding, { address: `0x${'a'.repeat(40)}` }))
  await until(
    () => text().includes('9,007,199,254,740,991––'),
    20_000,
    () => text(),
  )
  end()
})
