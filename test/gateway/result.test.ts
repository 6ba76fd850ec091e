import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { Chain } from '../../src/gateway/chain.ts'
import { ANSWER_OVERHEAD_BYTES, PIECE_BYTES } from '../../src/gateway/http/limits.ts'
import { includedResult, refusedResult, resultOf } from '../../src/gateway/rpc/result.ts'

const hash = 'AB'.repeat(32)
const head = (height: number): string => `{"height":${height},"hash":"${hash}"`
const result = (more: object) => ({
  code: 0,
  codespace: '',
  log: '',
  info: '',
  data: new Uint8Array(),
  gasWanted: 0,
  gasUsed: 0,
  events: [],
  ...more,
})

describe('the transaction result object, byte for byte', () => {
  const rows: readonly (readonly [name: string, object: unknown, text: string])[] = [
    [
      'success with gas and data',
      includedResult(hash, 9, result({ gasUsed: 1_000_000, data: new Uint8Array([49]) }), 2_000_000_000n),
      `${head(9)},"check_tx":{"fee":{}},"deliver_tx":{"gasUsed":"1000000","fee":{"key":"R2FzRmVl","value":"2000000000000000"},` +
        `"data":"MQ=="}}`,
    ],
    [
      'success with gas and no data',
      includedResult(hash, 9, result({ gasUsed: 21_000 }), 1n),
      `${head(9)},"check_tx":{"fee":{}},"deliver_tx":{"gasUsed":"21000","fee":{"key":"R2FzRmVl","value":"21000"}}}`,
    ],
    [
      'success at gas price 0',
      includedResult(hash, 9, result({ gasUsed: 21_000 }), 0n),
      `${head(9)},"check_tx":{"fee":{}},"deliver_tx":{"gasUsed":"21000","fee":{"key":"R2FzRmVl","value":"0"}}}`,
    ],
    [
      'success without gas',
      includedResult(hash, 9, result({}), 5n),
      `${head(9)},"check_tx":{"fee":{}},"deliver_tx":{"fee":{}}}`,
    ],
    [
      'a fee no double holds',
      includedResult(hash, 9, result({ gasUsed: 99_999_999 }), 999_999_999_999n),
      `${head(9)},"check_tx":{"fee":{}},"deliver_tx":{"gasUsed":"99999999","fee":{"key":"R2FzRmVl","value":"99999998999900000001"}}}`,
    ],
    [
      'CheckTx refused',
      refusedResult(hash, { code: 1, log: 'already activated' }),
      `${head(0)},"check_tx":{"code":1,"log":"already activated","fee":{}},"deliver_tx":{"fee":{}}}`,
    ],
    [
      'DeliverTx failed',
      includedResult(hash, 9, result({ code: 20, log: 'Insufficient balance' }), 5n),
      `${head(0)},"check_tx":{"code":20,"log":"Insufficient balance","fee":{}},` +
        `"deliver_tx":{"code":20,"log":"Insufficient balance","fee":{}}}`,
    ],
  ]
  test.each(rows)('%s', (_name, object, text) => {
    expect(JSON.stringify(object)).toBe(text)
  })
})

test('thousands of calls that wait for one block are answered in turns of the event loop', async () => {
  const outcome = { hash, included: { height: 9, result: result({}) } }
  let answered = 0
  const all = Array.from({ length: 2_000 }, async () => {
    // Without gas nothing is asked of the chain.
    await resultOf({} as Chain, outcome)
    answered++
  })
  await nextTurn()
  const byFirstTurn = answered
  await Promise.all(all)
  // What goes at once, and what the first turn lets go.
  expect(byFirstTurn).toBeLessThanOrEqual((2 * PIECE_BYTES) / ANSWER_OVERHEAD_BYTES)
  expect(answered).toBe(2_000)
})
