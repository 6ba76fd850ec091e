import { describe, expect, test } from '@jest/globals'
import { methods } from '../fuzz/methods.ts'
import type { Described } from '../fuzz/rpcModel.ts'
import { differsBy, takeIn } from './again.ts'
import type { Answer } from './ask.ts'
import { ANSWER_MS_MAX, hashOf, wrongOf } from './judge.ts'

const HASH = 'AB'.repeat(32)
const named = (name: string): Described => methods.find((method) => method.name === name) as Described

describe('an answer of a gateway whose node is not well', () => {
  const judged = (name: string, answer: Answer | undefined, tookMs = 0): string | undefined =>
    wrongOf({ method: named(name), answer, tookMs }, 7)

  test('is right with an announced code, and with a height that the node can have', () => {
    const away = { error: { code: -32011, message: 'the node cannot be reached' } }
    for (const { name } of methods.filter(({ errors }) => errors.some(({ code }) => code === -32011)))
      expect(judged(name, away)).toBeUndefined()
    expect(judged('svc_queryParams', { result: { height: 7, data: {} } })).toBeUndefined()
    expect(judged('svc_getTransaction', { result: null })).toBeUndefined()
    expect(judged('svc_getBalance', { result: '5' })).toBeUndefined()
  })

  test.each<[string, string, Answer | undefined, RegExp]>([
    ['there is none', 'svc_queryParams', undefined, /^no answer$/],
    ['it is a defect', 'svc_queryParams', { error: { code: -32603, message: 'x' } }, /^a defect/],
    ['nothing announces its code', 'svc_queryParams', { error: { code: -32012, message: 'x' } }, /does not announce/],
    ['nothing says why', 'svc_queryParams', { error: { code: -32011, message: '' } }, /without a message/],
    ['it lacks the hash', 'svc_transfer', { error: { code: -32012, message: 'x' } }, /without the hash/],
    ['its height cannot be', 'svc_queryParams', { result: { height: 8 } }, /height 8, where the node can have 7/],
    ['it has no height', 'svc_queryParams', { result: { data: {} } }, /^no height/],
  ])('is wrong when %s', (_why, name, answer, says) => {
    expect(judged(name, answer)).toMatch(says)
  })

  test('is wrong when it comes after the limit', () => {
    const away = { error: { code: -32011, message: 'x' } }
    expect(judged('svc_transfer', away, ANSWER_MS_MAX)).toBeUndefined()
    expect(judged('svc_transfer', away, ANSWER_MS_MAX + 1)).toMatch(
      /^an answer after 27.001 s, where 27 s are the limit/,
    )
    expect(judged('svc_getBalance', { result: '5' }, ANSWER_MS_MAX + 1)).toMatch(/^an answer after/)
  })

  test('is wrong when a new method does not say of which height it is', () => {
    const method = { ...named('svc_getBalance'), name: 'svc_getSomething' }
    expect(wrongOf({ method, answer: { result: '5' }, tookMs: 0 }, 7)).toMatch(/does not say of which height/)
  })

  test('names its hash in an error or in a result', () => {
    expect(hashOf({ error: { code: -32011, message: 'x', data: { hash: HASH } } })).toBe(HASH)
    expect(hashOf({ result: { height: 0, hash: HASH } })).toBe(HASH)
    expect(hashOf({ error: { code: -32011, message: 'x' } })).toBeUndefined()
  })
})

describe('bytes that are sent again', () => {
  const answered = (answer: Answer): readonly number[] => {
    const heights = new Set<number>()
    takeIn({ hash: HASH, heights }, answer)
    return [...heights]
  }
  const result = (height: number, code?: number, hash = HASH): Answer => ({
    result: { height, hash, check_tx: code === undefined ? {} : { code } },
  })

  test('have the block that is named, and wait after an error that says so', () => {
    expect(answered(result(7))).toEqual([7])
    expect(answered(result(0, 6))).toEqual([])
    expect(answered({ error: { code: -32011, message: 'x' } })).toEqual([])
  })

  test.each<[string, Answer]>([
    ['another hash', result(7, undefined, 'CD'.repeat(32))],
    ['a refusal for good', result(0, 20)],
    ['a defect', { error: { code: -32603, message: 'x' } }],
    ['an error about other bytes', { error: { code: -32012, message: 'x', data: { hash: 'CD'.repeat(32) } } }],
  ])('are not answered with %s', (_what, answer) => {
    expect(() => answered(answer)).toThrow(/is answered/)
  })

  test('are found out when they executed twice, or never', () => {
    const before = { nonce: 3, balance: 1000n }
    expect(differsBy(before, { nonce: 5, balance: 980n }, 2, 10n)).toBeUndefined()
    expect(differsBy(before, { nonce: 6, balance: 970n }, 2, 10n)).toMatch(/nonce 6, expected 5/)
    expect(differsBy(before, { nonce: 5, balance: 970n }, 2, 10n)).toMatch(/balance 970, expected 980/)
    expect(differsBy(before, { nonce: 4, balance: 990n }, 2, 10n)).toMatch(/nonce 4, expected 5/)
  })
})
