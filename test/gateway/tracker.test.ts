import { describe, expect, test } from '@jest/globals'
import { createTracker } from '../../src/gateway/send/tracker.ts'
import { txHash } from '../../src/tx/envelope.ts'

describe('tracker', () => {
  const bytes = new Uint8Array([1])
  const result = { code: 0, codespace: '', log: '', info: '', data: bytes, gasWanted: 0, gasUsed: 0, events: [] }

  test('a block resolves all that wait for its transactions, and nobody else', async () => {
    const tracker = createTracker()
    const [one, two, other] = [tracker.wait(txHash(bytes)), tracker.wait(txHash(bytes)), tracker.wait('AB')]
    tracker.onBlock({ height: 4, txs: [new Uint8Array([2]), bytes], results: [{ ...result, code: 1 }, result] })
    expect(await Promise.all([one?.included, two?.included])).toEqual(Array(2).fill({ height: 4, result }))
    one?.cancel()
    expect(tracker.size()).toBe(1)
    other?.cancel()
    expect([tracker.size(), await other?.included]).toEqual([0, undefined])
  })

  test('cancelling one leaves the other waiting for the same hash', async () => {
    const tracker = createTracker()
    const [one, two] = [tracker.wait(txHash(bytes)), tracker.wait(txHash(bytes))]
    one?.cancel()
    one?.cancel()
    expect(tracker.size()).toBe(1)
    tracker.onBlock({ height: 4, txs: [bytes], results: [result] })
    expect([await one?.included, await two?.included]).toEqual([undefined, { height: 4, result }])
  })

  test('closing ends all that wait and those that come later', async () => {
    const tracker = createTracker()
    const before = tracker.wait('AB')
    tracker.close()
    expect([await before.included, await tracker.wait('AB').included, tracker.size()]).toEqual([
      undefined,
      undefined,
      0,
    ])
  })
})
