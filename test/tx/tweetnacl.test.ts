/** tweetnacl as the oracle of ed25519 that is not ours. It signs nowhere in the product: docs/decisions/0017. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import nacl from 'tweetnacl'
import { concat, toHex } from '../../src/base/bytes.ts'
import { keyPairOfSeed as browserKeyPair, signDetached as browserSign } from '../../src/base/ed25519.browser.ts'
import { keyPairOfSeed, signDetached } from '../../src/base/ed25519.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'
import { decodeTx, encodeBody, encodeTx, signBytes, type TxBody } from '../../src/tx/envelope.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { addressBytes, addressOfKey } from '../../src/values/address.ts'

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })

/** Bytes that tweetnacl takes: it asks for a Uint8Array of this realm, which a Buffer is not. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

const transfer = (publicKey: Uint8Array, nonce = 0): TxBody => ({
  chainId: 'c',
  from: addressBytes(addressOfKey(publicKey)),
  nonce,
  operation: 'transfer',
  message: { to: new Uint8Array(20).fill(2), value: '5' },
})

/** Whether the chain takes the signature of a transfer, and whether tweetnacl does. */
function verdicts(
  publicKey: Uint8Array,
  signature: Uint8Array,
  body = transfer(publicKey),
): readonly [boolean, boolean] {
  const bodyBytes = encodeBody(body)
  const tx = decodeTx(encodeTx(bodyBytes, publicKey, signature))
  if ('why' in tx) throw new Error(tx.why)
  return [
    isSignedBySender(tx),
    nacl.sign.detached.verify(plain(signBytes(bodyBytes)), plain(signature), plain(publicKey)),
  ]
}

test('what tweetnacl signs the chain takes, and what we sign, with libsodium and in browsers, tweetnacl takes', () => {
  fc.assert(
    fc.property(seeds, fc.nat(), (seed, nonce) => {
      const theirs = nacl.sign.keyPair.fromSeed(plain(seed))
      const { publicKey } = theirs
      expect(toHex(keyPairOfSeed(seed).publicKey)).toBe(toHex(publicKey))
      const body = transfer(publicKey, nonce)
      const message = plain(signBytes(encodeBody(body)))
      const signature = nacl.sign.detached(message, theirs.secretKey)
      const ours = signDetached(message, keyPairOfSeed(seed).secretKey)
      const inBrowser = browserSign(message, browserKeyPair(seed).secretKey)
      // Ed25519 signatures are deterministic: all three are the same bytes.
      expect([toHex(ours), toHex(inBrowser)]).toEqual([toHex(signature), toHex(signature)])
      expect(verdicts(publicKey, signature, body)).toEqual([true, true])
      expect(toHex(signerOfSeed(seed).signBody(body))).toBe(toHex(signature))
    }),
    { numRuns: 25 },
  )
})

test('both refuse another message, another key and a changed bit', () => {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7))
  const signature = nacl.sign.detached(plain(signBytes(encodeBody(transfer(publicKey)))), secretKey)
  expect(verdicts(publicKey, signature)).toEqual([true, true])
  expect(verdicts(publicKey, signature, transfer(publicKey, 1))).toEqual([false, false])
  const { publicKey: other } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(8))
  expect(verdicts(other, signature)).toEqual([false, false])
  for (let bit = 0; bit < 512; bit += 37) {
    const changed = plain(signature)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    expect(verdicts(publicKey, changed)).toEqual([false, false])
  }
})

/** The order of the group, in the byte order of a signature's S. */
const ORDER = Uint8Array.from(Buffer.from('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010', 'hex'))

/** S with the order of the group added, which is the same number modulo the order. */
function withOrderAdded(signature: Uint8Array): Uint8Array {
  const out = plain(signature)
  let carry = 0
  for (let at = 0; at < 32; at++) {
    const sum = (signature[32 + at] as number) + (ORDER[at] as number) + carry
    out[32 + at] = sum & 0xff
    carry = sum >> 8
  }
  return out
}

test('tweetnacl is laxer: it takes an S with the order of the group added, which the chain refuses', () => {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7))
  const signature = nacl.sign.detached(plain(signBytes(encodeBody(transfer(publicKey)))), secretKey)
  expect(verdicts(publicKey, withOrderAdded(signature))).toEqual([false, true])
})

const IDENTITY = Uint8Array.from([1, ...new Array(31).fill(0)])
/** The same point with the prime of the field added to its y: another encoding of it. */
const IDENTITY_UNREDUCED = Uint8Array.from(
  Buffer.from('eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 'hex'),
)

test.each([
  ['the key of small order 1', IDENTITY],
  ['that key in an encoding that is not canonical', IDENTITY_UNREDUCED],
])('tweetnacl is laxer: one signature of %s is good for every message; the chain refuses it', (_what, key) => {
  const signature = concat(IDENTITY, new Uint8Array(32))
  for (const nonce of [0, 1, 2]) expect(verdicts(key, signature, transfer(key, nonce))).toEqual([false, true])
})
