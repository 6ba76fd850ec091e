import { expect, test } from '@jest/globals'
import { costOf, createTxCache } from '../../src/app/mempool.ts'
import type { ReadTx } from '../../src/modules/kernel.ts'
import { signTransfer } from '../support/signTransfer.ts'
import { account } from '../support/testChain.ts'
import { usedBytes } from '../support/usedBytes.ts'
import { bytesOf, startChain } from '../modules/support.ts'

const transfer = (nonce: number): Uint8Array => signTransfer(account(1), nonce, { chainId: 'cache' })

/** A cache, and what it remembers of a transaction that was accepted. */
function cacheOf(bytesMax?: number) {
  const cache = createTxCache(bytesMax)
  const accept = (tx: Uint8Array): ReadTx => {
    const { read } = cache.read(tx)
    cache.keep(read)
    return read
  }
  return { cache, accept }
}

test('a transaction that was accepted is read once, whoever asks with its bytes, until it is taken', () => {
  const { cache, accept } = cacheOf()
  const tx = transfer(0)
  expect(cache.read(tx).read).not.toBe(cache.read(tx).read)
  const read = accept(tx)
  expect(read.sender).toBe(account(1).address)
  expect(cache.read(Uint8Array.from(tx)).read).toBe(read)
  expect(cache.take(tx).read).toBe(read)
  const again = cache.take(tx).read
  expect(again).not.toBe(read)
  expect(again.hash).toEqual(read.hash)
  expect(cache.read(tx).read).not.toBe(again)
})

test('what is remembered stays when the bytes it came in change: they are a part of a packet', () => {
  const { cache, accept } = cacheOf()
  const packet = Uint8Array.from(transfer(0))
  const read = accept(packet)
  packet.fill(0)
  expect(cache.read(transfer(0)).read).toBe(read)
  expect(read.isSigned()).toBe(true)
})

test('transactions of equal tail are told apart', () => {
  const { cache, accept } = cacheOf()
  const tx = transfer(0)
  // A bit of the body; the signature, at the end, is the same.
  const other = Uint8Array.from(tx)
  other[20] = (other[20] as number) ^ 1
  const read = accept(tx)
  expect(cache.take(other).read).not.toBe(read)
  expect(cache.read(tx).read).toBe(read)
  expect(accept(other)).not.toBe(read)
  expect(cache.read(tx).read).not.toBe(read)
})

test('when what is remembered costs more than it may, the transactions kept longest ago are forgotten', () => {
  const txs = [0, 1, 2].map(transfer)
  const { cache, accept } = cacheOf(txs.slice(1).reduce((sum, tx) => sum + costOf(tx.length), 0))
  const [first, ...rest] = txs.map(accept)
  expect(txs.slice(1).every((tx, at) => cache.read(tx).read === rest[at])).toBe(true)
  expect(cache.read(txs[0] as Uint8Array).read).not.toBe(first)
})

const MIB = 1024 * 1024

test('garbage, and transactions with a wrong signature, leave nothing behind in CheckTx', () => {
  const chain = startChain()
  const before = usedBytes()
  const garbage = Buffer.alloc(33)
  for (let count = 0; count < (4 * MIB) / 33; count++) {
    garbage.writeUInt32LE(count, 1) // the tail that finds it
    if (chain.check(garbage).code !== 2) throw new Error('garbage was not refused')
  }
  const forged = Buffer.from(chain.tx(account(1), 'transfer', { to: bytesOf(account(2)), value: '1' }))
  for (let count = 0; count < 20_000; count++) {
    forged.writeUInt32LE(count, forged.length - 32)
    if (chain.check(forged).code !== 3) throw new Error('a forged transaction was not refused')
  }
  const leftMib = (usedBytes() - before) / MIB
  // What is measured is still held here.
  expect(chain.check(transfer(0)).code).toBe(3)
  expect(leftMib).toBeLessThan(4)
})

test('a remembered transaction costs no more than is counted for it', () => {
  const count = 5000
  const txs = Array.from({ length: count }, (_, nonce) => transfer(nonce))
  const { accept } = cacheOf()
  const before = usedBytes()
  const kept = txs.map((tx) => accept(tx).isSigned())
  const used = usedBytes() - before
  expect(kept.every(Boolean)).toBe(true)
  expect(used / count).toBeLessThan(costOf((txs[0] as Uint8Array).length))
  // What is measured is still held here.
  expect(accept(txs[0] as Uint8Array).isSigned()).toBe(true)
})
