import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createSearchTurns, findTxWith } from '../../src/gateway/feed/histories.ts'
import {
  HISTORIES_ASKED_MAX,
  HISTORIES_OF_ADDRESS_MAX,
  HISTORIES_WAITING_MAX,
  HISTORY_WAIT_MS_MAX,
  INDEX_TRIES,
} from '../../src/gateway/http/limits.ts'

/** Searches that end when they are told to, and the order in which they began. */
function heldSearches(nowMs?: () => number) {
  const turns = createSearchTurns(nowMs)
  const begun: string[] = []
  const held: (() => void)[] = []
  const ask = (address: string, name = address): Promise<void> =>
    turns.run(address, () => {
      begun.push(name)
      return new Promise<void>((done) => void held.push(done))
    })
  const endFirst = async (): Promise<void> => {
    held.shift()?.()
    await sleep(0)
  }
  return { turns, begun, ask, endFirst }
}

test('one address has one search under way, and another address does not wait for those of the first', async () => {
  const { turns, begun, ask, endFirst } = heldSearches()
  for (let at = 0; at < 20; at++) void ask('busy', `busy ${at}`)
  void ask('honest')
  await sleep(0)
  expect(begun).toEqual(['busy 0', 'honest'])
  await endFirst()
  expect(begun).toEqual(['busy 0', 'honest', 'busy 1'])
  expect(turns.waiting()).toBe(18)
})

test('where all places are taken the addresses take turns, however much one of them asks', async () => {
  const { begun, ask, endFirst } = heldSearches()
  const busy = Array.from({ length: HISTORIES_ASKED_MAX }, (_, at) => `busy ${at}`)
  for (let round = 0; round < 3; round++) for (const address of busy) void ask(address)
  void ask('honest')
  await sleep(0)
  expect(begun).toEqual(busy)
  await endFirst()
  expect(begun).toEqual([...busy, 'honest'])
  for (const _ of busy) await endFirst()
  expect(begun).toEqual([...busy, 'honest', 'busy 0', ...busy.slice(1)])
})

test('more searches than may wait are refused, those of one address and all together', async () => {
  const { ask } = heldSearches()
  for (let at = 0; at < 1 + HISTORIES_OF_ADDRESS_MAX; at++) void ask('one')
  await expect(ask('one')).rejects.toMatchObject({
    code: -32015,
    message: expect.stringContaining(`${HISTORIES_OF_ADDRESS_MAX} histories of one address wait`),
  })
  const others = HISTORIES_WAITING_MAX - HISTORIES_OF_ADDRESS_MAX + HISTORIES_ASKED_MAX - 1
  for (let at = 0; at < others; at++) void ask(`other ${at}`)
  await expect(ask('last')).rejects.toMatchObject({
    code: -32015,
    message: expect.stringContaining(`${HISTORIES_WAITING_MAX} histories wait`),
  })
})

test('those of an address that waited too long are refused together, and the next one begins', async () => {
  let now = 0
  const { begun, ask, endFirst, turns } = heldSearches(() => now)
  void ask('one', 'first')
  const late = [ask('one', 'late'), ask('one', 'late')]
  now = HISTORY_WAIT_MS_MAX + 1
  void ask('one', 'next')
  await sleep(0)
  const refused = Promise.allSettled(late)
  await endFirst()
  const reason = expect.objectContaining({ code: -32015, message: expect.stringContaining('waited for its turn') })
  expect(await refused).toEqual(late.map(() => ({ status: 'rejected', reason })))
  expect([begun, turns.waiting()]).toEqual([['first', 'next'], 0])
})

test('a search that fails gives its turn on', async () => {
  const turns = createSearchTurns()
  await expect(turns.run('one', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await turns.run('one', async () => 7)).toBe(7)
})

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
