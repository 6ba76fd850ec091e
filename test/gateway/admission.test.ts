import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { TURN_CALLS } from '../../src/gateway/limits.ts'
import { createTurns } from '../../src/gateway/admission.ts'

test('a caller of another address begins in the next round, however many calls of the first ones wait', async () => {
  const turns = createTurns()
  const begun: string[] = []
  const begin = (address: string, calls: number) => turns(address, calls).then(() => void begun.push(address))
  const flood = Array.from({ length: 20 }, () => begin('flood', TURN_CALLS))
  const other = begin('other', 1)
  await nextRound()
  expect(begun).toEqual(['flood', 'other'])
  await Promise.all([...flood, other])
  expect(begun).toHaveLength(21)
})

test('small requests of one address begin together, in their order, up to the calls of a turn', async () => {
  const turns = createTurns()
  const begun: number[] = []
  const all = Array.from({ length: TURN_CALLS + 3 }, (_, at) => turns('a', 1).then(() => void begun.push(at)))
  await nextRound()
  expect(begun).toEqual(Array.from({ length: TURN_CALLS }, (_, at) => at))
  await Promise.all(all)
  expect(begun).toEqual(Array.from({ length: TURN_CALLS + 3 }, (_, at) => at))
})
