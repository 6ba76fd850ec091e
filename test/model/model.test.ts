import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { txEntries } from '../../src/modules/registry.ts'
import { anySeed, summary } from '../support/campaign.ts'
import { model } from './campaign.ts'
import { type Alteration, ALTERATIONS } from './protocol/state.ts'
import type { Met } from './run.ts'

const seed = anySeed()

// The short form. `make model` is the long one.
test(`the application does what docs/protocol.md says, read a second time: SEED=${seed}`, async () => {
  const report = await model({ count: 1_000, seed })
  expect([summary(report), report.passed]).toEqual([summary(report), true])
  expect(report.ran).toBeGreaterThanOrEqual(1_000)
})

test('the same on chains that succeed in each operation, and on a replica to which everything happens', async () => {
  const met: Met = new Map()
  const report = await model({ count: 3_000, seed: 1 }, met)
  expect(summary(report)).toMatch(/^held: /)
  const wanted = [
    ...txEntries.map(({ operation }) => `${operation} ${operation === 'proposeUpgradeProgram' ? 4 : 0}`),
    ...['change_param', 'deploy_libeni', 'retire_program', 'transfer_fund'].map((type) => `${type} Approved`),
    'transfer_fund Rejected',
    'change_param Expired',
    'svc.stake.removed absence',
    'svc.stake.removed misbehaviour',
    ...['restart', 'rollback', 'snapshot', 'run ahead', 'another proposal'],
    'delegations are slashed',
    'a batch is slashed',
    'a raise of the commission waits',
    'claims wait for the next block',
  ]
  expect(wanted.filter((what) => !met.has(what))).toEqual([])
})

/** Chains that come to a rule to which few come. */
const SEEDS: Partial<Record<Alteration, number>> = {
  'a set of little power stays closed': 7,
  'the units of a withdrawal round down': 5,
  'a candidacy of little power has as many places as others': 21,
}

test.each(ALTERATIONS)('finds an application that differs from the model in one rule: %s', async (altered) => {
  const report = await model({ count: 3_000, seed: SEEDS[altered] ?? 1 }, new Map(), altered)
  expect(report).toMatchObject({ passed: false, result: expect.stringMatching(/the application has .*the model /) })
})

test('the model shares no code with the application', () => {
  const folder = join(import.meta.dirname, 'protocol')
  const imports = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from as string),
  )
  expect(imports.filter((from) => !/^(\.\/\w+\.ts|node:(crypto|fs)|ethers)$/.test(from))).toEqual([])
})
