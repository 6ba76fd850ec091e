import { expect, test } from '@jest/globals'
import { ADDRESS_BYTES } from '../../src/values/address.ts'
import { keyPairOfSeed, signDetached } from '../../src/base/ed25519.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { signBytes, type Tx, TX_BYTES_MAX } from '../../src/tx/envelope.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'

const { publicKey, secretKey } = keyPairOfSeed(new Uint8Array(32).fill(7))
const addressOf = (key: Uint8Array): Uint8Array => sha256(key).subarray(0, ADDRESS_BYTES)

/** A transaction with a body of so many bytes, signed by its sender. */
function signed(bodyLength = 100): Tx {
  const bodyBytes = new Uint8Array(bodyLength).fill(3)
  const signature = signDetached(signBytes(bodyBytes), secretKey)
  const body = { chainId: 'c', from: addressOf(publicKey), nonce: 0, operation: 'transfer', message: {} }
  return { kind: 'ed25519', body, bodyBytes, publicKey, signature }
}

/** The bytes with one more behind them, or without the last. */
const longer = (bytes: Uint8Array): Uint8Array => Buffer.concat([bytes, Buffer.alloc(1)])
const shorter = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, -1)

test('the signature of the sender over the domain and the body is one, up to the longest body', () => {
  for (const length of [0, 100, TX_BYTES_MAX, 100]) expect(isSignedBySender(signed(length))).toBe(true)
  expect(isSignedBySender(signed(TX_BYTES_MAX + 1))).toBe(false)
})

test('another body, another sender and another key are refused', () => {
  const tx = signed()
  const { body, bodyBytes } = tx
  expect(isSignedBySender({ ...tx, bodyBytes: longer(bodyBytes) })).toBe(false)
  expect(isSignedBySender({ ...tx, body: { ...body, from: new Uint8Array(ADDRESS_BYTES) } })).toBe(false)
  expect(isSignedBySender({ ...tx, body: { ...body, from: sha256(publicKey) } })).toBe(false)
  const other = sha256(publicKey)
  expect(isSignedBySender({ ...tx, publicKey: other, body: { ...body, from: addressOf(other) } })).toBe(false)
})

test('a signature or a key of another length is refused, although libsodium takes a longer signature', () => {
  const tx = signed()
  for (const change of [longer, shorter]) {
    const key = change(publicKey)
    expect(isSignedBySender({ ...tx, signature: change(tx.signature) })).toBe(false)
    expect(isSignedBySender({ ...tx, publicKey: key, body: { ...tx.body, from: addressOf(key) } })).toBe(false)
  }
})
