import { afterEach, expect, jest, test } from '@jest/globals'
import { boundErrors } from '../../src/gateway/errorLog.ts'
import { ERROR_LINES_MAX, ERROR_LINES_MS } from '../../src/gateway/http/limits.ts'
import { keptLog, startPair } from './support.ts'

afterEach(() => void jest.useRealTimers())

test('of more errors than a log takes in a while it has the number, and then it takes errors again', () => {
  jest.useFakeTimers()
  const kept = keptLog()
  const log = boundErrors(kept)
  const fail = (count: number): void => {
    for (let at = 0; at < count; at++) log.error({ at }, 'failed')
  }
  fail(ERROR_LINES_MAX)
  jest.advanceTimersByTime(ERROR_LINES_MS)
  expect(kept.lines).toHaveLength(ERROR_LINES_MAX)
  fail(ERROR_LINES_MAX + 3)
  expect(kept.lines).toHaveLength(2 * ERROR_LINES_MAX)
  jest.advanceTimersByTime(ERROR_LINES_MS)
  fail(1)
  expect(kept.lines.slice(2 * ERROR_LINES_MAX)).toEqual([
    { about: { leftOut: 3 }, message: 'more errors than are logged' },
    { about: { at: 0 }, message: 'failed' },
  ])
})

test('a stranger whose calls the node fails cannot fill the log', async () => {
  let isBroken = false
  const pair = await startPair({ garbles: (method) => isBroken && method === 'abci_query' })
  try {
    isBroken = true
    const addresses = Array.from({ length: 200 }, (_, at) => `0x${String(at).padStart(40, '0')}`)
    const answers = await pair.batch(addresses.map((address) => ['svc_getBalance', [address]]))
    expect(answers.filter(({ error }) => error?.code === -32011)).toHaveLength(200)
    const failed = pair.log.lines.filter(({ message }) => message === 'the node failed at a call')
    expect(failed).toHaveLength(ERROR_LINES_MAX)
  } finally {
    await pair.close()
  }
})
