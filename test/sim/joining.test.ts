import { expect, test } from '@jest/globals'
import { SIZES, simulateJoining } from './joining.ts'

const first = Number(process.env['SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000_000)
const seeds = Number(process.env['SIM_SEEDS'] ?? 1)
const blocks = Number(process.env['SIM_BLOCKS'] ?? 300)

test.each(SIZES)(
  'a set of %d: keys that no node holds never stop the chain, nor hold a third of the power',
  (validators) => {
    process.stdout.write(`SEED=${first} SIM_SEEDS=${seeds} SIM_BLOCKS=${blocks}\n`)
    for (let seed = first; seed < first + seeds; seed++) simulateJoining(seed, validators, blocks)
    const met = Array.from({ length: 3 }, (_, at) => simulateJoining(1 + at, validators, 300))
    const sum = (of: (one: (typeof met)[number]) => number): number => met.reduce((all, one) => all + of(one), 0)
    expect(
      Math.min(
        sum(({ proven }) => proven),
        sum(({ silent }) => silent),
      ),
    ).toBeGreaterThan(20)
  },
  3_600_000,
)
