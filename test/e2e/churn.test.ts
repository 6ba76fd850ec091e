import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { random } from '../chain/support.ts'
import { churn } from './support/churn.ts'
import { endLeftovers, tempFolder } from './support/devnet.ts'

const folder = tempFolder()
afterAll(() => {
  endLeftovers()
  folder.remove()
})

test('validators come, go, change keys, owners and number: one app hash a height on all nodes, and in a replay', async () => {
  const { moves, compared, replayed } = await churn({
    output: join(folder.path, 'net'), validators: 4, blocks: 60, blockTime: '50ms', next: random(2), say: () => undefined,
  })
  expect([...moves.values()].reduce((sum, { done }) => sum + done, 0)).toBeGreaterThan(10)
  expect(compared).toBeGreaterThanOrEqual(60)
  expect(replayed).toBeGreaterThanOrEqual(60)
}, 600_000)
