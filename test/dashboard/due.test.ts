/** Times and heights that a stranger's transaction names, in what is shown before it is signed and in its view. */
import { textOf } from './fakeDom.ts'
import { beforeAll, expect, test } from '@jest/globals'
import { h } from 'preact'
import { head, recentBlocks } from '../../src/dashboard/data/chain.ts'
import { formatTime } from '../../src/dashboard/format.ts'
import { Fields } from '../../src/dashboard/parts/Message.tsx'
import { Signed } from '../../src/dashboard/wallet/ReviewDialog.tsx'
import type { Review } from '../../src/dashboard/wallet/readFacts.ts'

beforeAll(() => {
  const blocks = [1, 2].map((height) => ({ height, time: `2030-01-01T00:00:0${height}Z` }))
  recentBlocks.set(blocks as never)
  head.set(blocks[1] as never)
})

const facts = { from: `0x${'aa'.repeat(20)}`, params: { max_vals: 4 } }
const review = { fee: 1n, balance: 5n, facts } as unknown as Review

function signed(point: object): string {
  const input = { name: 'max_vals', value: '7', ...point }
  return textOf(h(Signed, { request: { operation: 'proposeChangeParam', input }, review }))
}

/** The last second that a Date holds, and the block made then. */
const LAST_SECOND = 8.64e12
const LAST_HEIGHT = LAST_SECOND - Date.parse('2030-01-01T00:00:00Z') / 1_000

test('a time is shown to the second, and a number that is none as a dash', () => {
  expect(formatTime(Date.parse('2030-01-01T00:00:02.7Z'))).toBe('2030-01-01 00:00:02')
  expect(formatTime(LAST_SECOND * 1_000)).toBe('+275760-09-13 00:00:00')
  expect([LAST_SECOND * 1_000 + 1, Number.NaN].map(formatTime)).toEqual(['–', '–'])
})

test.each([
  [LAST_SECOND, 'Open until+275760-09-13 00:00:00 UTC'],
  [LAST_SECOND + 1, 'Open until8640000000001'],
  [Number.MAX_SAFE_INTEGER, 'Open until9007199254740991'],
])('what is open until the second %s can be looked at before it is signed', (expireTimestamp, shown) => {
  expect(signed({ expireTimestamp })).toContain(shown)
})

test.each([
  [3, '3 (about 2030-01-01 00:00 UTC)'],
  [LAST_HEIGHT, `${LAST_HEIGHT.toLocaleString('en')} (about +275760-09-13 00:00 UTC)`],
  [LAST_HEIGHT + 1, (LAST_HEIGHT + 1).toLocaleString('en')],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991'],
])('what is open until the block %s can be looked at', (expireBlockHeight, shown) => {
  expect(signed({ expireBlockHeight })).toContain(`Open untilblock ${shown}Fee`)
  expect(textOf(h(Fields, { operation: 'proposeChangeParam', message: { expireBlockHeight } }))).toBe(
    `Expires at block${shown}`,
  )
})
