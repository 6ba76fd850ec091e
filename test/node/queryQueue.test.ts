import { expect, test } from '@jest/globals'
import { createQueryQueue, QUERY_LIMITS, type WaitingQuery } from '../../src/node/queries/queue.ts'

const query = (path: string): WaitingQuery => ({
  request: { path, data: new Uint8Array(0), height: 0, prove: false },
  done: () => {},
})
const LIST = '/stake/validators'

/** The paths of the next batch, and who is refused with which reason. */
function take(
  queue: ReturnType<typeof createQueryQueue>,
  nowMs = 0,
): { readonly paths: readonly string[]; readonly refused: readonly (readonly string[])[] } {
  const refused: string[][] = []
  const { queries } = queue.take(nowMs, ({ request }, why) => refused.push([request.path, why]))
  return { paths: queries.map(({ request }) => request.path), refused }
}

test('lists are read one at a time, others together, in turns: neither waits for all of the other', () => {
  const queue = createQueryQueue(QUERY_LIMITS)
  for (let at = 0; at < 3; at++) queue.add(query(`${LIST}?offset=${at}`), 0)
  for (let at = 0; at < 40; at++) queue.add(query(`/accounts/${at}`), 0)
  expect([1, 2, 3, 4, 5, 6].map(() => take(queue).paths.length)).toEqual([1, 16, 1, 16, 1, 8])
  expect(take(queue).paths).toEqual([])
})

test('a list that several ask for is read once for all of them', () => {
  const queue = createQueryQueue(QUERY_LIMITS)
  for (const path of [LIST, `${LIST}?limit=1`, LIST]) queue.add(query(path), 0)
  expect([take(queue).paths, take(queue).paths]).toEqual([[LIST, LIST], [`${LIST}?limit=1`]])
})

test('who waited longer than the limit is refused unread, but for the time in which the thread began', () => {
  const queue = createQueryQueue(QUERY_LIMITS)
  const path = '/accounts/1'
  for (const one of [LIST, path]) queue.add(query(one), 0)
  queue.begin(5000)
  expect(take(queue, 5500)).toEqual({ paths: [LIST], refused: [] })
  queue.add(query(LIST), 6600)
  expect(take(queue, 7101)).toEqual({
    paths: [],
    refused: [
      [path, 'the query waited for more than 2000 ms'],
      [LIST, 'the list waited for more than 500 ms'],
    ],
  })
})

test('lists that cost more than a second’s allowance are refused, also those that wait, until it has come back', () => {
  const queue = createQueryQueue({ ...QUERY_LIMITS, listBytesPerSecond: 1000 })
  const why = 'whole lists are answered at 1000 bytes a second, and these are used up'
  for (const path of [LIST, '/governance/proposals']) expect(queue.add(query(path), 0)).toBeUndefined()
  expect(take(queue).paths).toEqual([LIST])
  queue.listAnswered(2500, 0)
  expect(take(queue)).toEqual({ paths: [], refused: [['/governance/proposals', why]] })
  expect(queue.add(query(LIST), 1500)).toBe(why)
  expect(queue.add(query('/accounts/1'), 1500)).toBeUndefined()
  expect(queue.add(query(LIST), 1501)).toBeUndefined()
  // A rest gives no more than one second's worth.
  queue.listAnswered(1001, 99_000)
  expect(queue.add(query(LIST), 99_000)).toBe(why)
})

test('when blocks were committed four times in a row while a list was read, lists rest until the next commit, or for a second', () => {
  const queue = createQueryQueue(QUERY_LIMITS)
  const commits = (count: number): boolean => {
    for (let at = 0; at < count; at++) queue.committed(true)
    return queue.listAnswered(1, 100)
  }
  queue.add(query(LIST), 100)
  expect([commits(3), commits(1)]).toEqual([false, true])
  queue.add(query('/accounts/1'), 100)
  expect([take(queue, 101).paths, take(queue, 600).paths]).toEqual([['/accounts/1'], []])
  queue.committed(false)
  expect(take(queue, 600).paths).toEqual([LIST])
  queue.add(query(LIST), 1000)
  expect(commits(4)).toBe(true)
  expect([take(queue, 1099).paths, take(queue, 1100).paths]).toEqual([[], [LIST]])
})
