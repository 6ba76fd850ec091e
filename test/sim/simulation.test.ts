import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { txEntries } from '../../src/modules/registry.ts'
import { simulate } from './simulation.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('sim')
afterAll(() => {
  remove()
})

const first = Number(process.env['SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000_000)
const seeds = Number(process.env['SIM_SEEDS'] ?? (process.env['SEED'] === undefined ? 3 : 1))
const blocks = Number(process.env['SIM_BLOCKS'] ?? 120)

/** Runs chains of seeds in a row; what they met, summed. */
function run(from: number, count: number, length: number): { met: Map<string, number>; restarts: number } {
  const met = new Map<string, number>()
  let restarts = 0
  for (let seed = from; seed < from + count; seed++) {
    const path = join(folder, `${from}-${seed}.db`)
    const one = simulate(seed, length, path)
    restarts += one.restarts
    for (const [what, times] of one.met) met.set(what, (met.get(what) ?? 0) + times)
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
  }
  return { met, restarts }
}

const settings = `SEED=${first} SIM_SEEDS=${seeds} SIM_BLOCKS=${blocks}`

test(`two replicas agree at each height of random chains and every invariant holds: ${settings}`, () => {
  process.stdout.write(`${settings}\n`)
  const { met } = run(first, seeds, blocks)
  if (process.env['SIM_SHOW'] !== undefined)
    for (const [what, count] of [...met].sort()) process.stdout.write(`${what}: ${count}\n`)
  expect(met.size).toBeGreaterThan(10)
}, 3_600_000)

test('the same on chains that succeed in each operation, approve each type of proposal and restart often', () => {
  const { met, restarts } = run(1, 8, 120)
  expect(restarts).toBeGreaterThan(20)
  const wanted = [
    ...txEntries.map(({ operation }) => `${operation} 0`).filter((what) => what !== 'proposeUpgradeProgram 0'),
    'proposeUpgradeProgram 4',
    ...['change_param', 'deploy_libeni', 'retire_program', 'transfer_fund'].map((type) => `${type} Approved`),
    'change_param Expired',
    'svc.stake.removed absence',
    'svc.stake.removed misbehaviour',
  ]
  expect(wanted.filter((what) => !met.has(what))).toEqual([])
}, 3_600_000)
