import { describe, expect, test } from '@jest/globals'
import { hasMetLie, type Joined, judgeJoin } from './support/stateSync.ts'

/** A join as it should be: from the snapshot of 40 to the head, and what one peer sent was refused. */
const join: Joined = {
  lie: 'flipped',
  tookMs: 17_000,
  limitMs: 60_000,
  interval: 20,
  own: new Map([40, 41, 42].map((height) => [height, `hash ${height}`])),
  theirs: new Map([1, 40, 41, 42].map((height) => [height, `hash ${height}`])),
  refusedFrom: ['liar', 'liar'],
  liar: 'liar',
  asked: 3,
}

describe('a join by state sync', () => {
  test('holds, and says what it took', () => {
    expect(judgeJoin(join)).toMatchObject({
      passed: true,
      result:
        '17.0 s, 0.28 of the limit, from the snapshot of 40; chunks asked of the liar: 3, chunks refused: 2; 3 app hashes compared',
    })
  })

  test('counts when the node met the lie', () => {
    expect(hasMetLie(join)).toBe(true)
    expect(hasMetLie({ ...join, refusedFrom: [] })).toBe(false)
    expect(hasMetLie({ ...join, lie: 'missing', refusedFrom: [] })).toBe(true)
    expect(hasMetLie({ ...join, lie: 'missing', refusedFrom: [], asked: 0 })).toBe(false)
  })

  test.each<[string, Partial<Joined>, RegExp]>([
    ['is too late', { tookMs: 61_000 }, /^too late/],
    ['has another app hash', { theirs: new Map([[41, 'hash 40']]) }, /^another app hash at height 41/],
    ['blames an honest peer', { refusedFrom: ['liar', 'other'] }, /^a chunk of other, who is honest, was refused/],
    ['did not begin at a snapshot', { own: new Map([[41, 'hash 41']]) }, /^begun at height 41/],
    ['has no block', { own: new Map() }, /^begun at height 0/],
  ])('that %s is found', (_what, change, why) => {
    expect(judgeJoin({ ...join, ...change })).toMatchObject({ passed: false, result: expect.stringMatching(why) })
  })
})
