import { expect, test } from '@jest/globals'
import { spreadOf } from '../../src/dashboard/data/power.ts'

const spreadOfPowers = (...powers: readonly number[]) => {
  const { large, small, ...counts } = spreadOf(powers.map((power) => ({ power })))
  return { ...counts, large: large.map(({ power }) => power), small: small.map(({ power }) => power) }
}

test('a member alone has everything', () => {
  expect(spreadOfPowers(5)).toEqual({ total: 5, third: 1, twoThirds: 1, large: [5], small: [] })
})

test('exactly a third and two thirds count', () => {
  expect(spreadOfPowers(3, 3, 3)).toMatchObject({ third: 1, twoThirds: 2 })
  expect(spreadOfPowers(2, 4, 3)).toMatchObject({ total: 9, third: 1, twoThirds: 2, large: [4, 3, 2] })
  expect(spreadOfPowers(1, 1, 1, 1)).toMatchObject({ third: 2, twoThirds: 3 })
})

test('members below a hundredth of the power are one part, but never a single one', () => {
  expect(spreadOfPowers(980, 10, 9, 1)).toMatchObject({ large: [980, 10], small: [9, 1] })
  expect(spreadOfPowers(990, 20, 1)).toMatchObject({ large: [990, 20, 1], small: [] })
  expect(spreadOfPowers(...Array<number>(200).fill(1))).toMatchObject({ third: 67, twoThirds: 134, large: [] })
})

test('a set without power has no part to count', () => {
  expect(spreadOfPowers()).toEqual({ total: 0, third: 0, twoThirds: 0, large: [], small: [] })
})
