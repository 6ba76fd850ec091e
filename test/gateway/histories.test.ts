import { expect, test } from '@jest/globals'
import { findTxWith } from '../../src/gateway/feed/histories.ts'
import { INDEX_TRIES } from '../../src/gateway/http/limits.ts'

test('a transaction is not said to be in no block while the index is behind the blocks', async () => {
  const answers = [4, 4, 5].map((last) => ({
    height: 5,
    data: { first_height: 1, last_height: last, transaction: null },
  }))
  let asked = 0
  const find = findTxWith(async () => answers[Math.min(asked++, 2)] as (typeof answers)[0])
  expect(await find('AB')).toBeUndefined()
  expect(asked).toBe(3)
  asked = 0
  const never = findTxWith(async () => {
    asked++
    return answers[0] as (typeof answers)[0]
  })
  expect(await never('AB')).toBeUndefined()
  expect(asked).toBe(INDEX_TRIES)
})
