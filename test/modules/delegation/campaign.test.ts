import { expect, test } from '@jest/globals'
import { anySeed } from '../../support/campaign.ts'
import { delegationProperties } from './campaign.ts'

test('supply is exact, nobody gains by delegating and withdrawing, and nobody lowers what another has', () => {
  const met = new Map<string, number>()
  const { result, passed } = delegationProperties({ count: 600, seed: anySeed() }, {}, met)
  expect([passed, result]).toEqual([true, expect.stringMatching(/^held/)])
  expect(['delegate 0', 'withdraw 0', 'withdraw 21', 'return 0'].filter((what) => !met.has(what))).toEqual([])
})

test('one base unit that the sender gains or another loses, and more than rounding that it loses itself, is found', () => {
  const of = { count: 100, seed: 1 }
  const gains = delegationProperties(of, { own: (units) => units + 1n })
  expect([gains.passed, gains.result]).toEqual([false, expect.stringMatching(/and has 1 more/)])
  const pays = delegationProperties(of, { own: (units) => units - 10n })
  expect([pays.passed, pays.result]).toEqual([false, expect.stringMatching(/and lost \d+/)])
  const loses = delegationProperties(of, { others: (units) => units - 1n })
  expect([loses.passed, loses.result]).toEqual([false, expect.stringMatching(/: 0x[0-9a-f]{40} had \d+ of /)])
})
