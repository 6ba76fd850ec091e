import { afterAll, expect, test } from '@jest/globals'
import { makePlace, svcd } from './support.ts'

const place = makePlace([1, 2, 3])
afterAll(place.remove)

test('a gateway with public accounts takes no others: one line names both flags, exit status 2', async () => {
  const { status, stderr } = await svcd(place, ['gateway', '--devnet', '--unlock', 'alice'])
  expect([status, stderr]).toEqual([2, 'svcd: --devnet: goes without --unlock, as public accounts need no token\n'])
})

test('without --devnet unlocked accounts need a token where the world can reach them', async () => {
  const { status, stderr } = await svcd(place, ['gateway', '--unlock', 'alice', '--listen', '0.0.0.0:9999'])
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^svcd: .*--auth-token-file/)])
})
