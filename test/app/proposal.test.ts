import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { bytesInBlock } from '../../src/abci/blockBytes.ts'
import { account, type TestChain } from '../support/testChain.ts'
import { prepare } from '../chain/support.ts'
import { startChain, transfer } from '../modules/support.ts'

const accepts = (chain: TestChain, txs: readonly Uint8Array[]): boolean => chain.propose({ txs }) === 1

describe('proposals', () => {
  test('what fails checks 1 to 4 at its place is left out, and what fails later stays', () => {
    const chain = startChain()
    const junk = Uint8Array.of(1, 2, 3)
    const poor = transfer(chain, 5, 1, '9'.repeat(35))
    const [first, third, gap] = [0, 2, 4].map((nonce) => transfer(chain, 5, nonce)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ]
    const forged = Uint8Array.from(transfer(chain, 7, 0))
    forged[forged.length - 1] = (forged.at(-1) as number) ^ 1
    expect(prepare(chain.app, [junk, first, first, poor, gap, third, forged])).toEqual([first, poor, third])
    expect(accepts(chain, [first, poor, third])).toBe(true)
    for (const bad of [[junk], [first, first], [gap], [third], [forged], [poor], [first, third]])
      expect(accepts(chain, bad)).toBe(false)
    expect(accepts(chain, [])).toBe(true)
  })

  test('a block of failing operations is no reason to reject, and executes as it was accepted', () => {
    const chain = startChain()
    const txs = [transfer(chain, 5, 0, '0'), transfer(chain, 5, 1)]
    expect(accepts(chain, txs)).toBe(true)
    expect(chain.block({ txs }).results.map(({ code }) => code)).toEqual([20, 0])
  })

  test('max_tx_bytes is met to the byte, as CometBFT counts', () => {
    const chain = startChain()
    const txs = [0, 1, 2].map((nonce) => transfer(chain, 5, nonce))
    const size = txs.reduce((sum, { length }) => sum + bytesInBlock(length), 0)
    expect(prepare(chain.app, txs, size)).toHaveLength(3)
    expect(prepare(chain.app, txs, size - 1)).toEqual(txs.slice(0, 2))
    expect(prepare(chain.app, txs, 0)).toEqual([])
  })

  test.each([
    [0, 2],
    [1, 3],
    [127, 129],
    [128, 131],
    [16_383, 16_386],
    [16_384, 16_388],
  ])('%d bytes take %d in a block', (length, inBlock) => {
    expect(bytesInBlock(length)).toBe(inBlock)
  })

  test('when one is too large those behind it of the same sender wait, and those of others go', () => {
    const chain = startChain()
    const large = chain.tx(account(5), 'proposeChangeParam', { name: 'x'.repeat(5000), value: '' }, 0)
    const behind = transfer(chain, 5, 1)
    const other = transfer(chain, 7, 0)
    expect(prepare(chain.app, [large, behind, other], 1000)).toEqual([other])
  })

  test('proposals touch no state and no check state', () => {
    const chain = startChain()
    const before = chain.finalize().appHash
    prepare(chain.app, [transfer(chain, 5, 0)])
    accepts(chain, [transfer(chain, 5, 0)])
    expect(chain.finalize().appHash).toEqual(before)
    expect(chain.check(transfer(chain, 5, 0))).toMatchObject({ code: 0 })
  })

  test('whatever waits and whatever the limit, what one node prepares another accepts, within the limit', () => {
    const chain = startChain()
    const other = startChain()
    const one = fc.oneof(
      fc
        .record({
          from: fc.integer({ min: 5, max: 7 }),
          nonce: fc.integer({ min: 0, max: 3 }),
          value: fc.constantFrom('0', '1', '9'.repeat(35)),
        })
        .map(({ from, nonce, value }) => transfer(chain, from, nonce, value)),
      fc.uint8Array({ maxLength: 40 }),
    )
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), fc.integer({ min: 0, max: 2500 }), (txs, limit) => {
        const proposed = prepare(chain.app, txs, limit)
        expect(proposed.reduce((sum, { length }) => sum + bytesInBlock(length), 0)).toBeLessThanOrEqual(limit)
        expect(accepts(other, proposed)).toBe(true)
        expect(other.finalize({ txs: proposed }).txResults?.some(({ code }) => [2, 3, 6].includes(code ?? 0))).toBe(
          false,
        )
      }),
      { numRuns: 60 },
    )
  })
})
