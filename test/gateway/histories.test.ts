import { expect, test } from '@jest/globals'
import { findTxWith } from '../../src/gateway/feed/histories.ts'
import { INDEX_TRIES } from '../../src/gateway/http/limits.ts'

const answer = (height: number, last: number, first = 1) => ({
  height,
  data: { first_height: first, last_height: last, transaction: null },
})

test('a transaction is not said to be in no block before the index has the block that was the head', async () => {
  // The chain goes on meanwhile, and the index stays a block behind it.
  const answers = [answer(5, 4), answer(5, 4), answer(6, 5)]
  let asked = 0
  const find = findTxWith(async () => answers[asked++] as (typeof answers)[0])
  expect(await find('AB')).toBeUndefined()
  expect(asked).toBe(3)
})

test('an index that stays behind is an error with the hash, not a transaction that is in no block', async () => {
  let asked = 0
  const find = findTxWith(async () => {
    asked++
    return answer(5, 4)
  })
  await expect(find('AB')).rejects.toMatchObject({
    code: -32011,
    message: "the node's index of histories has blocks up to 4, and the chain is at 5: ask again",
    data: { hash: 'AB', retryAfterMs: 1_000 },
  })
  expect(asked).toBe(INDEX_TRIES)
})

test('an index that holds no block yet does not say that a transaction is in none, unless there is no block', async () => {
  await expect(findTxWith(async () => answer(5, 5, 6))('AB')).rejects.toMatchObject({
    code: -32011,
    message: "the node's index of histories has blocks up to 0, and the chain is at 5: ask again",
  })
  expect(await findTxWith(async () => answer(0, 0, 1))('AB')).toBeUndefined()
})
