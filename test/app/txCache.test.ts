import { expect, test } from '@jest/globals'
import { makeTxCache } from '../../src/app/txCache.ts'
import { account } from '../support/testChain.ts'
import { bytesOf } from '../modules/support.ts'

const transfer = (nonce: number): Uint8Array => account(1).signTx({
  chainId: 'cache', nonce, operation: 'transfer', message: { to: bytesOf(account(2)), value: '7' },
})

test('a transaction is read once, whoever asks with its bytes, until it is taken', () => {
  const cache = makeTxCache()
  const tx = transfer(0)
  const read = cache.read(tx)
  expect(read.sender).toBe(account(1).address)
  expect(cache.read(Uint8Array.from(tx))).toBe(read)
  expect(cache.take(tx)).toBe(read)
  const again = cache.take(tx)
  expect(again).not.toBe(read)
  expect(again.hash).toEqual(read.hash)
  expect(cache.read(tx)).not.toBe(again)
})

test('what is remembered stays when the bytes it came in change: they are a part of a packet', () => {
  const cache = makeTxCache()
  const packet = Uint8Array.from(transfer(0))
  const read = cache.read(packet)
  packet.fill(0)
  expect(cache.read(transfer(0))).toBe(read)
  expect(read.isSigned()).toBe(true)
})

test('transactions of equal tail are told apart', () => {
  const cache = makeTxCache()
  const tx = transfer(0)
  // A bit of the body; the signature, at the end, is the same.
  const other = Uint8Array.from(tx)
  other[20] = (other[20] as number) ^ 1
  const read = cache.read(tx)
  expect(cache.take(other)).not.toBe(read)
  expect(cache.read(tx)).toBe(read)
  expect(cache.read(other)).not.toBe(read)
  expect(cache.read(tx)).not.toBe(read)
})

test('when more bytes are remembered than may be, those read longest ago are forgotten', () => {
  const txs = [0, 1, 2].map(transfer)
  const cache = makeTxCache(txs.slice(1).reduce((sum, tx) => sum + tx.length, 0))
  const [first, ...rest] = txs.map((tx) => cache.read(tx))
  expect(txs.slice(1).map((tx) => cache.read(tx))).toEqual(rest)
  expect(txs.slice(1).every((tx, at) => cache.read(tx) === rest[at])).toBe(true)
  expect(cache.read(txs[0] as Uint8Array)).not.toBe(first)
})
