import { describe, expect, test } from '@jest/globals'
import { judgeRefusals } from './proposer.ts'

type Proposals = Parameters<typeof judgeRefusals>[0]

/** Ten blocks that had to be refused, at the heights 10 to 100; then one to be executed, and one that kills its proposer. */
const proposals: Proposals = [
  ...Array.from({ length: 10 }, (_, at) => ({ height: 10 * (at + 1), kind: at < 5 ? 'no bytes' : 'a nonce again' })),
  { height: 110, kind: 'nothing of the mempool', codes: [] },
  { height: 120, kind: 'more than max_tx_bytes', kills: true },
]
const all = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]

describe('blocks that had to be refused', () => {
  test('are counted by who refused them, without the one that kills its proposer', () => {
    expect(judgeRefusals(proposals, [all, all, all.slice(0, 9)])).toBe(
      '10 blocks of 2 kinds had to be refused: at least one honest node refused 10, all 3 refused 9',
    )
  })

  test('may come too late, two of them', () => {
    expect(judgeRefusals(proposals, [all.slice(1), all.slice(2)])).toMatch(
      /at least one honest node refused 9, all 2 refused 8$/,
    )
    expect(judgeRefusals(proposals, [all.slice(2)])).toMatch(/refused 8,/)
  })

  test.each<[string, readonly (readonly number[])[], RegExp]>([
    ['a node that refused none', [all, []], /^honest node 1 refused no block/],
    ['too many that nobody refused', [all.slice(3)], /^of 10 blocks that had to be refused, honest nodes refused 7/],
    ['a block that was none of them', [all, [...all, 110]], /^honest node 1 refused a block of height 110/],
    ['a second one at a height', [[...all, 50]], /^honest node 0 refused a block of height 50/],
  ])('are found out: %s', (_what, refused, why) => {
    expect(() => judgeRefusals(proposals, refused)).toThrow(why)
  })

  test('are found out: a kind that nobody refused', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ height: at + 1, kind: at < 3 ? 'no bytes' : 'random bytes' }))
    const refused = many.slice(3).map(({ height }) => height)
    expect(() => judgeRefusals(many, [refused])).toThrow('no bytes: nobody refused the blocks 1,2,3')
  })
})
