import { describe, expect, test } from '@jest/globals'
import sodium from 'sodium-native'
import { concat, utf8 } from '../../../src/base/bytes.ts'
import { addressBytes, addressOfKey } from '../../../src/values/address.ts'
import { encodeBody, encodeTx, signBytes } from '../../../src/tx/envelope.ts'
import { keyPairOfSeed, signDetached } from '../../../src/base/ed25519.ts'
import { bytes as tag } from '../../abci/wireBytes.ts'
import { account, CHAIN_ID, type TestChain } from '../../support/testChain.ts'
import { startChain } from '../support.ts'

const pair = keyPairOfSeed(new Uint8Array(32).fill(5).fill(0, 30))
const from = addressBytes(addressOfKey(pair.publicKey))
const to = addressBytes(account(6).address)
const body = (over: object = {}) =>
  encodeBody({ chainId: CHAIN_ID, from, nonce: 0, operation: 'transfer', message: { to, value: '1' }, ...over })
const signed = (bytes: Uint8Array): Uint8Array =>
  encodeTx(bytes, pair.publicKey, signDetached(signBytes(bytes), pair.secretKey))
const good = signed(body())
const head = concat(tag(1, utf8(CHAIN_ID)), tag(2, from))
const transfer = tag(10, concat(tag(1, to), tag(2, utf8('1'))))

/** What the chain says to these bytes: in CheckTx, in a proposal and in a block, where nothing changes. */
function said(chain: TestChain, bytes: Uint8Array): string {
  const { code, log } = chain.check(bytes)
  expect(chain.propose({ txs: [bytes] })).toBe(code === 0 ? 1 : 2)
  const empty = chain.finalize()
  const full = chain.finalize({ txs: [bytes] })
  expect(full.txResults).toMatchObject([{ code, log }])
  if (code !== 0) expect(full.appHash).toEqual(empty.appHash)
  return `${code ?? 0} ${log ?? ''}`
}

describe('check 1: one intent has one byte string', () => {
  const notTx = '2 cannot decode transaction: the bytes are not a canonical transaction'
  const notBody = '2 cannot decode transaction: body: the bytes are not a canonical transaction body'
  const [b, key] = [body(), pair.publicKey]
  const signature = signDetached(signBytes(b), pair.secretKey)

  test('our own bytes are the canonical ones', () => {
    expect(concat(tag(1, b), tag(2, key), tag(3, signature))).toEqual(good)
    expect(said(startChain(), good)).toBe('0 ')
  })

  test.each<[string, Uint8Array, string]>([
    ['no bytes', new Uint8Array(0), '2 cannot decode transaction: message: expected one operation, got 0'],
    ['text', utf8('hello'), notTx],
    ['trailing bytes', concat(good, Uint8Array.of(0)), notTx],
    ['an unknown member', concat(good, tag(4, Uint8Array.of(1))), notTx],
    ['a member twice', concat(good, tag(3, signature)), notTx],
    ['members out of order', concat(tag(2, key), tag(1, b), tag(3, signature)), notTx],
    [
      'an overlong varint',
      concat(Uint8Array.of(10), Uint8Array.of(b.length + 128, 0), b, tag(2, key), tag(3, signature)),
      notTx,
    ],
    ['a truncated one', good.subarray(0, good.length - 1), notTx],
    ['an unknown member of the body', signed(concat(body(), tag(9, Uint8Array.of(1)))), notBody],
    ['a default spelt out in the body', signed(concat(head, Uint8Array.of(24, 0), transfer)), notBody],
    ['an overlong nonce', signed(concat(head, Uint8Array.of(24, 129, 0), transfer)), notBody],
    [
      'a nonce above 2^53',
      signed(concat(head, Uint8Array.of(24, 129, 128, 128, 128, 128, 128, 128, 16), transfer)),
      notBody,
    ],
    ['the operation out of order', signed(concat(tag(1, utf8(CHAIN_ID)), transfer, tag(2, from))), notBody],
    ['text that is not UTF-8', signed(concat(tag(1, Uint8Array.of(0xff)), tag(2, from), transfer)), notBody],
  ])('%s is no transaction', (_what, bytes, log) => {
    expect(said(startChain(), bytes)).toContain(log)
  })

  test('a default left out is the canonical spelling', () => {
    expect(signed(concat(head, transfer))).toEqual(good)
  })

  test('no operation and two operations are refused', () => {
    expect(said(startChain(), signed(head))).toBe('2 cannot decode transaction: message: expected one operation, got 0')
    const two = signed(concat(head, transfer, tag(22, new Uint8Array(0))))
    expect(said(startChain(), two)).toMatch(/^2 cannot decode transaction: /)
    const reversed = signed(concat(head, tag(22, new Uint8Array(0)), transfer))
    expect(said(startChain(), reversed)).toMatch(/^2 cannot decode transaction: /)
  })

  const lengths = (got: string): string =>
    'public_key and signature: expected 32 and 64 bytes (ed25519), 0 and 65 (secp256k1), or 34 or more and a ' +
    `MultisigSignature (multisig), got ${got}`

  test.each([
    ['from', 19, 'from: expected 20 bytes, got 19'],
    ['from', 21, 'from: expected 20 bytes, got 21'],
    ['public_key', 31, lengths('31 and 64')],
    ['public_key', 33, lengths('33 and 64')],
    ['public_key', 0, lengths('0 and 64')],
    ['signature', 63, lengths('32 and 63')],
    ['signature', 65, lengths('32 and 65')],
    ['public_key', 34, 'public_key: the bytes are not a canonical Multisig'],
  ] as const)('%s may not have %d bytes', (member, given, why) => {
    const sized = (name: string, bytes: Uint8Array): Uint8Array =>
      name === member ? concat(bytes, from).subarray(0, given) : bytes
    const bodyBytes = body({ from: sized('from', from) })
    const bytes = encodeTx(
      bodyBytes,
      sized('public_key', key),
      sized('signature', signDetached(signBytes(bodyBytes), pair.secretKey)),
    )
    expect(said(startChain(), bytes)).toBe(`2 cannot decode transaction: ${why}`)
  })

  test('65,536 bytes are read and 65,537 are not', () => {
    const chain = startChain()
    const sized = (length: number): Uint8Array => {
      const empty = signed(body({ operation: 'proposeChangeParam', message: { name: '', value: '' } })).length
      const make = (count: number): Uint8Array =>
        signed(body({ operation: 'proposeChangeParam', message: { name: 'x'.repeat(count), value: '' } }))
      let count = length - empty - 8
      while (make(count).length < length) count++
      return make(count)
    }
    expect(sized(65_536)).toHaveLength(65_536)
    // It is read, and refused by the rules of the operation.
    expect(chain.check(sized(65_536))).toMatchObject({ code: 20, log: 'Invalid validator' })
    expect(said(chain, sized(65_537))).toBe(
      '2 cannot decode transaction: size: expected at most 65536 bytes, got 65537',
    )
  })
})

describe('checks 2 to 4', () => {
  const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
  const malleated = (bytes: Uint8Array): Uint8Array => {
    let s = 0n
    for (let at = 31; at >= 0; at--) s = s * 256n + BigInt(bytes[32 + at] ?? 0)
    const moved = Uint8Array.from(bytes)
    for (let at = 0, rest = s + order; at < 32; at++, rest /= 256n) moved[32 + at] = Number(rest % 256n)
    return moved
  }

  test('another chain is named, before the signature is looked at', () => {
    const other = body({ chainId: 'other' })
    expect(said(startChain(), encodeTx(other, pair.publicKey, new Uint8Array(64)))).toBe(
      '3 wrong chain id: expected test-chain, got other',
    )
    expect(said(startChain(), signed(other))).toBe('3 wrong chain id: expected test-chain, got other')
  })

  test('the signature is looked at before the nonce, and the nonce before the members', () => {
    const late = { nonce: 7, message: { to: new Uint8Array(3), value: 'x' } }
    expect(said(startChain(), encodeTx(body(late), pair.publicKey, new Uint8Array(64)))).toBe(
      '3 signature verification failed',
    )
    expect(said(startChain(), signed(body(late)))).toBe('6 bad nonce: expected 0, got 7')
  })

  const unsigned: [string, () => Uint8Array][] = [
    [
      'a signature with S + L',
      () => encodeTx(body(), pair.publicKey, malleated(signDetached(signBytes(body()), pair.secretKey))),
    ],
    [
      'a signature of the body without the domain',
      () => encodeTx(body(), pair.publicKey, signDetached(body(), pair.secretKey)),
    ],
    [
      'a flipped bit',
      () => encodeTx(body(), pair.publicKey, signDetached(signBytes(body({ nonce: 1 })), pair.secretKey)),
    ],
    [
      'a sender who is not the key',
      () => {
        const bytes = body({ from: to })
        return encodeTx(bytes, pair.publicKey, signDetached(signBytes(bytes), pair.secretKey))
      },
    ],
    [
      'the identity as key, which verifies anything elsewhere',
      () => {
        const identity = new Uint8Array(32).fill(1, 0, 1)
        return encodeTx(
          body({ from: addressBytes(addressOfKey(identity)) }),
          identity,
          concat(identity, new Uint8Array(32)),
        )
      },
    ],
    [
      'a key of small order',
      () => {
        const small = Uint8Array.from(
          Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex'),
        )
        return encodeTx(body({ from: addressBytes(addressOfKey(small)) }), small, concat(small, new Uint8Array(32)))
      },
    ],
  ]
  test.each(unsigned)('%s is no signature', (_what, make) => {
    expect(said(startChain(), make())).toBe('3 signature verification failed')
  })

  test('the malleated signature differs from a good one only by the order of the group', () => {
    const signature = signDetached(signBytes(body()), pair.secretKey)
    expect(malleated(signature)).not.toEqual(signature)
    expect(
      sodium.crypto_sign_verify_detached(
        Buffer.from(signature),
        Buffer.from(signBytes(body())),
        Buffer.from(pair.publicKey),
      ),
    ).toBe(true)
  })

  test('a failure at checks 5 to 7 uses up the nonce, and the same bytes are then worth nothing', () => {
    const chain = startChain()
    const poor = signed(body({ message: { to, value: '9'.repeat(35) } }))
    expect(chain.block({ txs: [poor, poor, signed(body({ nonce: 1 }))] }).results.map(({ code }) => code)).toEqual([
      20, 6, 0,
    ])
    expect(chain.nonceOf(account(5))).toBe(2)
  })
})
