import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { compareBytes, concat, fromHex, toHex } from '../../src/base/bytes.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'
import { decodeTx, encodeBody, encodeTx, signBytes, type TxBody } from '../../src/tx/envelope.ts'
import { encodeMultisig, encodeParts, type Multisig, multisigAddress, type Part } from '../../src/tx/multisig.ts'
import { recoverAddress } from '../../src/tx/signers/secp256k1.ts'
import { keyPairOfSeed, signDetached } from '../../src/base/ed25519.ts'
import { svcCodec } from '../../src/codec/svc.ts'
import { addressBytes } from '../../src/values/address.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { random } from '../chain/support.ts'
import { ethWallet, signaturesOf } from '../support/wallet.ts'

const ORDER = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')
const number32 = (value: bigint): Uint8Array => fromHex(value.toString(16).padStart(64, '0')) as Uint8Array
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`)

const transfer = (from: Uint8Array, given: Partial<TxBody> = {}): TxBody => ({
  chainId: 'c',
  from,
  nonce: 3,
  operation: 'transfer',
  message: { to: new Uint8Array(20).fill(2), value: '5' },
  ...given,
})

/** The verdict on bytes: why they are no transaction, or whether their sender signed. */
function verdict(bytes: Uint8Array): string | boolean {
  const tx = decodeTx(bytes)
  return 'why' in tx ? tx.why : isSignedBySender(tx)
}

/** 10,000 other byte strings near one that was signed: a byte is another one, is left out, or is put in. */
function mutants(bytes: Uint8Array): readonly Uint8Array[] {
  const next = random(5)
  return Array.from({ length: 10_000 }, () => {
    const [at, byte] = [next(bytes.length), next(256)]
    const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at + 1)]
    const kind = next(4)
    if (kind === 0) return concat(before, behind)
    if (kind === 1) return concat(before, Uint8Array.of(byte), bytes.subarray(at))
    return concat(before, Uint8Array.of((bytes[at] as number) ^ (1 + (byte % 255))), behind)
  })
}

test('of 10,000 changed transactions of an ed25519 key none is signed', () => {
  const bytes = signerOfSeed(new Uint8Array(32).fill(1)).signTx(transfer(new Uint8Array(20)))
  expect(verdict(bytes)).toBe(true)
  expect(mutants(bytes).filter((changed) => verdict(changed) === true)).toEqual([])
})

describe('secp256k1', () => {
  const wallet = ethWallet(1)
  const from = addressBytes(wallet.address)
  const sent = (signature: Uint8Array, body = transfer(from)): Uint8Array =>
    encodeTx(encodeBody(body), new Uint8Array(0), signature)
  const good = wallet.sign(transfer(from))
  const parts = (): [bigint, bigint, number] => [
    numberOf(good.subarray(0, 32)),
    numberOf(good.subarray(32, 64)),
    good[64] as number,
  ]
  const joined = (r: bigint, s: bigint, v: number): Uint8Array => concat(number32(r), number32(s), Uint8Array.of(v))

  test('what eth-sig-util, viem and ethers sign is signed, and they sign alike', async () => {
    expect(verdict(sent(good))).toBe(true)
    for (const signature of await signaturesOf(1, transfer(from))) {
      expect(toHex(signature)).toBe(toHex(good))
      expect(verdict(sent(signature))).toBe(true)
    }
  })

  test('the second form of a signature, with the other s, is refused', () => {
    const [r, s, v] = parts()
    expect(verdict(sent(joined(r, ORDER - s, v === 27 ? 28 : 27)))).toBe(false)
    expect(verdict(sent(joined(r, ORDER - s, v)))).toBe(false)
  })

  test.each([0, 1, 26, 29, 35, 255])('a v of %i is refused', (v) => {
    const [r, s] = parts()
    expect(verdict(sent(joined(r, s, v)))).toBe(false)
  })

  test('the other parity recovers another key', () => {
    const [r, s, v] = parts()
    expect(verdict(sent(joined(r, s, v === 27 ? 28 : 27)))).toBe(false)
  })

  test.each([
    ['r = 0', 0n, 1n],
    ['s = 0', 1n, 0n],
    ['r = n', ORDER, 1n],
    ['r above n', ORDER + 1n, 1n],
    ['s = n', 1n, ORDER],
    ['s above half of n', 1n, ORDER / 2n + 1n],
    ['r whose point is not on the curve', 5n, 1n],
    ['the largest numbers', 2n ** 256n - 1n, 2n ** 256n - 1n],
  ])('%s is refused, without a throw', (_what, r, s) => {
    for (const v of [27, 28]) expect(recoverAddress(new Uint8Array(32).fill(9), joined(r, s, v))).toBeUndefined()
  })

  test('s of half of n is taken, where it recovers a key', () => {
    const [r] = parts()
    expect(recoverAddress(new Uint8Array(32).fill(9), joined(r, ORDER / 2n, 27))).toHaveLength(20)
  })

  test('a key at infinity is refused', () => {
    // s·R = e·G: with R = G and s = e the recovered key is r⁻¹(s·R − e·G), which is no point.
    const generatorX = numberOf(
      fromHex('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798') as Uint8Array,
    )
    const digest = number32(7n)
    expect(recoverAddress(digest, joined(generatorX, 7n, 27))).toBeUndefined()
  })

  test('another body, chain, nonce or sender is refused', () => {
    for (const change of [
      { chainId: 'd' },
      { nonce: 4 },
      { message: { to: new Uint8Array(20).fill(2), value: '6' } },
      { from: new Uint8Array(20) },
    ])
      expect(verdict(sent(good, transfer(from, change)))).toBe(false)
  })

  test.each([
    ['an amount that is not the shortest text', { to: new Uint8Array(20).fill(2), value: '05' }],
    ['an amount above 10^36', { to: new Uint8Array(20).fill(2), value: (10n ** 36n + 1n).toString() }],
    ['an address of 19 bytes', { to: new Uint8Array(19).fill(2), value: '5' }],
  ])('%s has no digest, so that no signature of it verifies', (_what, message) => {
    const body = transfer(from, { message })
    let signature: Uint8Array = new Uint8Array(65)
    try {
      signature = wallet.sign(body)
    } catch {
      // The library refuses it too.
    }
    expect(verdict(sent(signature, body))).toBe(false)
  })

  test('of 10,000 changed transactions none is signed', () => {
    const bytes = sent(good)
    expect(mutants(bytes).filter((changed) => verdict(changed) === true)).toEqual([])
  })
})

describe('multisig', () => {
  const ed = [1, 2].map((seed) => keyPairOfSeed(new Uint8Array(32).fill(seed)))
  const eth = ethWallet(1)
  const members = [...ed.map(({ publicKey }) => publicKey), addressBytes(eth.address)].sort(compareBytes)
  const account: Multisig = { threshold: 2, members }
  const publicKey = encodeMultisig(account)
  const from = addressBytes(multisigAddress(publicKey))

  const signatureOf = (member: Uint8Array, body: TxBody): Uint8Array => {
    const pair = ed.find((one) => compareBytes(one.publicKey, member) === 0)
    return pair === undefined ? eth.sign(body) : signDetached(signBytes(encodeBody(body)), pair.secretKey)
  }
  const partsOf = (who: readonly number[], body = transfer(from)): readonly Part[] =>
    who.map((member) => ({ member, signature: signatureOf(members[member] as Uint8Array, body) }))
  const sent = (parts: readonly Part[], key = publicKey, body = transfer(from)): Uint8Array =>
    encodeTx(encodeBody(body), key, encodeParts(parts))

  test('the address is the sha256 of the domain and the bytes', () => {
    const hash = createHash('sha256').update('svc/multisig/v1\n').update(publicKey).digest('hex')
    expect(toHex(from)).toBe(hash.slice(0, 40))
  })

  test.each([[[0, 1]], [[0, 2]], [[1, 2]]])('members %j of three are enough', (who) => {
    expect(verdict(sent(partsOf(who)))).toBe(true)
  })

  test.each([
    ['one signature too few', [0], 'signature: expected 2 parts, got 1'],
    ['one too many', [0, 1, 2], 'signature: expected 2 parts, got 3'],
    ['a signer twice', [1, 1], 'signature: expected members of 0 to 2, ascending, got 1'],
    ['a list in another order', [1, 0], 'signature: expected members of 0 to 2, ascending, got 0'],
  ])('%s is no transaction', (_what, who, why) => {
    expect(verdict(sent(partsOf(who)))).toBe(why)
  })

  test('a member that is none, and a signature of another length, are no transaction', () => {
    const [first, second] = partsOf([0, 1]) as [Part, Part]
    expect(verdict(sent([first, { ...second, member: 3 }]))).toBe(
      'signature: expected members of 0 to 2, ascending, got 3',
    )
    expect(verdict(sent([first, { ...second, signature: second.signature.subarray(1) }]))).toMatch(
      /^signature of member 1: expected \d+ bytes/,
    )
  })

  test('the signature of a stranger, of another body and for the own account of a member are worth nothing', () => {
    const [first, second] = partsOf([0, 1]) as [Part, Part]
    const stranger = keyPairOfSeed(new Uint8Array(32).fill(9))
    const foreign = signDetached(signBytes(encodeBody(transfer(from))), stranger.secretKey)
    const length = (members[1] as Uint8Array).length
    expect(
      verdict(sent([first, { member: 1, signature: length === 32 ? foreign : ethWallet(2).sign(transfer(from)) }])),
    ).toBe(false)
    expect(verdict(sent(partsOf([0, 1], transfer(from, { nonce: 4 }))))).toBe(false)
    for (const at of [0, 1, 2]) {
      const own = members[at] as Uint8Array
      const address =
        own.length === 20 ? own : new Uint8Array(createHash('sha256').update(own).digest()).subarray(0, 20)
      const [part] = partsOf([at], transfer(address)) as [Part]
      const others = [0, 1, 2].filter((one) => one !== at)
      const with2 = [part, ...partsOf([others[0] as number])].sort((a, b) => a.member - b.member)
      expect(verdict(sent(with2))).toBe(false)
    }
    expect(second.member).toBe(1)
  })

  const raw = (given: Multisig): Uint8Array => svcCodec<Multisig>('svc.tx.Multisig').encode(given)
  const [a, b, c] = members as [Uint8Array, Uint8Array, Uint8Array]
  test.each([
    ['members in another order', { threshold: 2, members: [b, a, c] }, /ascending order/],
    ['a member twice', { threshold: 2, members: [a, a, b] }, /each member once/],
    ['one member', { threshold: 1, members: [b] }, /^public_key/],
    [
      '17 members',
      { threshold: 1, members: Array.from({ length: 17 }, (_, at) => new Uint8Array(20).fill(at)) },
      /expected 2 to 16, got 17/,
    ],
    ['a threshold of 0', { threshold: 0, members }, /threshold: expected 1 to the 3 members, got 0/],
    ['a threshold above the members', { threshold: 4, members }, /got 4/],
    ['a member of 21 bytes', { threshold: 1, members: [new Uint8Array(21), new Uint8Array(32).fill(1)] }, /got 21/],
  ])('%s is no account', (_what, given, why) => {
    const key = raw(given)
    const address = addressBytes(multisigAddress(key))
    const body = transfer(address)
    expect(verdict(sent(partsOf([0, 1], body), key, body))).toMatch(
      key.length < 34 && key.length !== 32 ? /^public_key and signature/ : why,
    )
  })

  test('a prefix comes first in the order of members', () => {
    const short = new Uint8Array(20).fill(7)
    const long = new Uint8Array(32).fill(7)
    expect(() => encodeMultisig({ threshold: 1, members: [short, long] })).not.toThrow()
    expect(() => encodeMultisig({ threshold: 1, members: [long, short] })).toThrow('ascending')
  })

  test('of 10,000 changed transactions none is signed', () => {
    const bytes = sent(partsOf([0, 1]))
    expect(mutants(bytes).filter((changed) => verdict(changed) === true)).toEqual([])
  })
})
