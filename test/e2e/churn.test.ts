import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { random } from '../chain/support.ts'
import { churn } from './support/churn.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder()
test('validators come, go, change keys, owners and number: one app hash a height on all nodes, and in a replay', async () => {
  const { moves, compared, replayed } = await churn({
    output: join(folder, 'net'),
    validators: 4,
    blocks: 60,
    blockTime: '50ms',
    next: random(2),
    say: () => undefined,
  })
  expect([...moves.values()].reduce((sum, { done }) => sum + done, 0)).toBeGreaterThan(10)
  expect(compared).toBeGreaterThanOrEqual(60)
  expect(replayed).toBeGreaterThanOrEqual(60)
}, 600_000)
