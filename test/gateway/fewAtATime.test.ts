import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { fewAtATime } from '../../src/gateway/fewAtATime.ts'

test('what has one key runs one after the other, in order, and another key does not wait', async () => {
  const inTurn = fewAtATime(1)
  const begun: string[] = []
  const held: (() => void)[] = []
  const run = (key: string, name: string): Promise<void> =>
    inTurn(key, () => {
      begun.push(name)
      return new Promise<void>((done) => void held.push(done))
    })
  for (const name of ['busy 0', 'busy 1', 'busy 2']) void run('busy', name)
  void run('honest', 'honest')
  await sleep(0)
  expect(begun).toEqual(['busy 0', 'honest'])
  for (const name of ['busy 1', 'busy 2']) {
    held.shift()?.()
    await sleep(0)
    expect(begun.at(-1)).toBe(name)
    held.shift()?.()
    await sleep(0)
  }
})

test('what fails gives its turn on', async () => {
  const inTurn = fewAtATime(1)
  const failing = inTurn('one', () => Promise.reject(new Error('away')))
  const next = inTurn('one', async () => 7)
  await expect(failing).rejects.toThrow('away')
  expect(await next).toBe(7)
})
