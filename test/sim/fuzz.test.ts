import { expect, test } from '@jest/globals'
import { fuzz } from './fuzz.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000_000)

test(`random bytes and mutated transactions are each answered with a code: SEED=${seed}`, () => {
  process.stdout.write(`SEED=${seed}\n`)
  expect(fuzz(seed, Number(process.env['FUZZ_SECONDS'] ?? 3))).toBeGreaterThan(1000)
}, 3_600_000)
