import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { random } from '../chain/support.ts'
import { churn } from './support/churn.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder()
const small = { validators: 4, blocks: 60, blockTime: '50ms', say: () => undefined }

test('validators come, go, change keys, owners and number: one app hash a height on all nodes, and in a replay', async () => {
  const { moves, compared, replayed } = await churn({ ...small, output: join(folder, 'net'), next: random(2) })
  expect([...moves.values()].reduce((sum, { done }) => sum + done, 0)).toBeGreaterThan(10)
  expect(compared).toBeGreaterThanOrEqual(60)
  expect(replayed).toBeGreaterThanOrEqual(60)
})

test('make churn finds a node whose rows were changed behind its back', async () => {
  const disturb = (home: string): void => {
    const db = new Database(join(home, 'data', 'state.db'), { timeout: 60_000 })
    const { changes } = db.prepare("update accounts set balance = '1' || balance").run()
    expect(changes).toBeGreaterThan(0)
    db.close()
  }
  const churned = churn({ ...small, output: join(folder, 'disturbed'), next: random(2), disturb })
  await expect(churned).rejects.toThrow(/tells the app hash|the stored root is not that of the rows/)
})
