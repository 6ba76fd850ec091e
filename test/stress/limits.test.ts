import { expect, test } from '@jest/globals'
import { brokenLimits, type Endured } from './limits.ts'

const nothing = { application: 0, gateway: 0, CometBFT: 0 }
const row: Endured = {
  name: 'lists',
  title: 'whole lists',
  blockRatio: 1,
  transferRatio: 1,
  historyRatio: 3,
  asksHistories: false,
  ofOneAddress: false,
  back: 0,
  calls: 100,
  refused: { '-32015': 1 },
  memoryPeakMb: nothing,
  memoryLeftMb: nothing,
  walPeakMb: 16,
  subscriptionsLeft: 0,
  freeWrites: 0,
  strangers: { answered: 1, ECONNRESET: 5 },
}

test('an attack under which every limit holds breaks none', () => {
  expect(brokenLimits(row, 1)).toEqual([])
  expect(brokenLimits({ ...row, blockRatio: 2.1 }, 1)).toEqual(['blocks'])
  expect(brokenLimits({ ...row, subscriptionsLeft: 1 }, 2)).toEqual(['1 subscriptions of nobody'])
  expect(brokenLimits({ ...row, freeWrites: 3 }, 2)).toEqual(['3 transactions without a fee'])
  expect(brokenLimits({ ...row, ofOneAddress: true }, 1)).toEqual(['honest calls refused with -32015'])
  expect(brokenLimits({ ...row, asksHistories: true }, 1)).toEqual(['histories'])
  expect(brokenLimits({ ...row, asksHistories: true, historyRatio: Number.NaN }, 1)).toEqual(['histories'])
  expect(brokenLimits({ ...row, asksHistories: true, historyRatio: 2 }, 1)).toEqual([])
})

test.each([{}, { ECONNREFUSED: 5000, UND_ERR_SOCKET: 1 }])(
  'an attack that reaches nobody holds nothing: %j',
  (strangers) => {
    expect(brokenLimits({ ...row, strangers }, 1)).toEqual(['no stranger reached the node'])
  },
)

test.each(['HTTP 429', '-32015', '30', 'connected'])('%j is an answer of a node', (end) => {
  expect(brokenLimits({ ...row, strangers: { [end]: 1 } }, 1)).toEqual([])
})
