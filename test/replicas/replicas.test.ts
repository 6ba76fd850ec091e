import { expect, test } from '@jest/globals'
import { anySeed, summary } from '../support/campaign.ts'
import { replicas } from './campaign.ts'
import { findNode, VERSIONS } from './nodes.ts'
import { FAULTS } from './program.ts'

const seed = anySeed()
// Those that are on this machine. `make replicas` downloads the others.
const nodes = VERSIONS.flatMap((version) => findNode(version) ?? [])

test(`three replicas agree at every height, wherever and on whatever they run: SEED=${seed}`, async () => {
  const report = await replicas({ count: 80, seed }, nodes)
  expect([summary(report), report.passed]).toEqual([summary(report), true])
  expect(report.ran).toBe(80)
})

test.each([
  ['the time zone', FAULTS.timeZone, /above height \d+, (?:Pacific|America).*: /],
  ['the language', FAULTS.locale, /above height \d+, .*: /],
] as const)('finds a program that depends on %s', async (_name, fault, why) => {
  const report = await replicas({ count: 300, seed: 1 }, nodes, fault)
  expect(report).toMatchObject({ passed: false, result: expect.stringMatching(why) })
})
