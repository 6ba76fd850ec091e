import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { addressBytes, addressOf, addressOfKey, parseAddress } from '../../src/values/address.ts'
import {
  AMOUNT_MAX,
  divCeil,
  divFloor,
  ONE,
  parseAmount,
  parseDecimal,
  parseRatio,
  printRatio,
  shareCeil,
  shareFloor,
} from '../../src/base/amount.ts'
import {
  compareBytes,
  concat,
  equalBytes,
  fromBase64,
  fromHex,
  fromUtf8,
  toBase64,
  toHex,
  u64be,
  utf8,
} from '../../src/base/bytes.ts'
import { sha256 as inBrowser } from '../../src/base/sha256.browser.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { parseProposalId, parsePubKey, pubKeyOf } from '../../src/values/pubKey.ts'
import { printTime, secondsOf } from '../../src/base/time.ts'

const bytes = fc.uint8Array({ maxLength: 80 })

describe('bytes', () => {
  test('hex, base64 and UTF-8 come back as they went', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(fromHex(toHex(value))).toEqual(value)
        expect(fromBase64(toBase64(value))).toEqual(value)
      }),
    )
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => fromUtf8(utf8(text)) === text))
  })

  test.each(['', 'a', 'abd=', 'AB==', 'AAA', 'AA A=', 'AA==\n', '-_==', 'AAAAA==='].map((text) => [text]))(
    'base64 that we would not have written is refused: %j',
    (text) => {
      expect(fromBase64(text)).toEqual(text === '' ? new Uint8Array(0) : undefined)
    },
  )

  test('bytes that are not UTF-8, and hex of odd length or other letters, are refused', () => {
    expect(fromUtf8(Uint8Array.of(0xff))).toBeUndefined()
    expect(fromHex('abc')).toBeUndefined()
    expect(fromHex('zz')).toBeUndefined()
  })

  test('u64be sorts as numbers do, and refuses what is no safe count', () => {
    const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
    fc.assert(fc.property(count, count, (a, b) => Math.sign(compareBytes(u64be(a), u64be(b))) === Math.sign(a - b)))
    fc.assert(
      fc.property(count, (value) => {
        const expected = Buffer.alloc(8)
        expected.writeBigUInt64BE(BigInt(value))
        expect(Buffer.from(u64be(value))).toEqual(expected)
      }),
    )
    for (const bad of [-1, 0.5, 2 ** 53]) expect(() => u64be(bad)).toThrow('u64be')
  })

  test('a prefix sorts first, and equalBytes tells apart what differs in length or content', () => {
    expect(compareBytes(Uint8Array.of(1), Uint8Array.of(1, 0))).toBeLessThan(0)
    expect(compareBytes(Uint8Array.of(200), Uint8Array.of(100, 1))).toBeGreaterThan(0)
    expect(equalBytes(Uint8Array.of(1), Uint8Array.of(1, 0))).toBe(false)
    expect(equalBytes(concat(Uint8Array.of(1), Uint8Array.of(2)), Uint8Array.of(1, 2))).toBe(true)
  })
})

test('sha256 is that of FIPS 180-2, appendix B.1', () => {
  for (const hash of [sha256, inBrowser])
    expect(toHex(hash(utf8('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

describe('addresses and keys', () => {
  test('any letter case is read, lower case is kept', () => {
    const text = `0x${'aB'.repeat(20)}`
    expect(parseAddress(text)).toBe(text.toLowerCase())
    expect(addressOf(addressBytes(parseAddress(text) as never))).toBe(text.toLowerCase())
  })

  const a = (count: number): string => 'a'.repeat(count)
  test.each(['', '0x', `0x${a(39)}`, `0x${a(41)}`, a(42), `0X${a(40)}`, `0x${'g'.repeat(40)}`].map((t) => [t]))(
    'no address: %j',
    (text) => {
      expect(parseAddress(text)).toBeUndefined()
    },
  )

  test('the address of a key is the first 20 bytes of its sha256', () => {
    const key = new Uint8Array(32).fill(7)
    expect(addressOfKey(key)).toBe(`0x${toHex(sha256(key)).slice(0, 40)}`)
  })

  test('a key or id is the base64 of 32 bytes, no more and no less', () => {
    for (const parse of [parsePubKey, parseProposalId]) {
      expect(parse(toBase64(new Uint8Array(32)))).toBeDefined()
      expect(parse(toBase64(new Uint8Array(31)))).toBeUndefined()
      expect(parse(toBase64(new Uint8Array(33)))).toBeUndefined()
    }
    expect(() => pubKeyOf(new Uint8Array(31))).toThrow('expected 32 bytes')
  })
})

describe('amounts and ratios', () => {
  test('an amount is canonical decimal text of 0 to 10^36', () => {
    expect(parseAmount(AMOUNT_MAX.toString())).toBe(AMOUNT_MAX)
    expect(parseAmount((AMOUNT_MAX + 1n).toString())).toBeUndefined()
    for (const bad of ['', '01', '-1', '+1', '1.0', ' 1', '1e3', '0x1', '１']) expect(parseAmount(bad)).toBeUndefined()
    expect(parseDecimal('0')).toBe(0n)
  })

  test('divisions say their direction and refuse what has none', () => {
    expect([divFloor(7n, 2n), divCeil(7n, 2n), divFloor(8n, 2n), divCeil(8n, 2n), divCeil(0n, 5n)]).toEqual([
      3n,
      4n,
      4n,
      4n,
      0n,
    ])
    expect(() => divFloor(-1n, 2n)).toThrow(RangeError)
    expect(() => divFloor(1n, 0n)).toThrow(RangeError)
  })

  test('a ratio is read exactly and printed without trailing zeros', () => {
    expect(parseRatio('0.5')).toBe(ONE / 2n)
    expect(printRatio(parseRatio('0.500') as bigint)).toBe('0.5')
    expect(printRatio(ONE)).toBe('1')
    expect(parseRatio(`0.${'0'.repeat(17)}1`)).toBe(1n)
    for (const bad of ['', '.5', '0.', '00.5', '1e-1', `0.${'0'.repeat(18)}1`, '-0.5', '0,5'])
      expect(parseRatio(bad)).toBeUndefined()
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), (ratio) => parseRatio(printRatio(ratio)) === ratio))
  })

  test('a share of an amount is off by less than one unit on its side', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: AMOUNT_MAX }), fc.bigInt({ min: 0n, max: ONE }), (amount, ratio) => {
        const exact = amount * ratio
        expect(shareFloor(amount, ratio) * ONE <= exact && exact - shareFloor(amount, ratio) * ONE < ONE).toBe(true)
        expect(shareCeil(amount, ratio) * ONE >= exact && shareCeil(amount, ratio) * ONE - exact < ONE).toBe(true)
      }),
    )
  })
})

describe('time', () => {
  test.each([
    [0, '1970-01-01T00:00:00Z'],
    [1_796_018_405, '2026-11-30T06:00:05Z'],
    [951_782_399, '2000-02-28T23:59:59Z'],
    [951_782_400, '2000-02-29T00:00:00Z'],
    // CometBFT's time of no block, and the last second that a timestamp can name.
    [-62_135_596_800, '0001-01-01T00:00:00Z'],
    [253_402_300_799, '9999-12-31T23:59:59Z'],
  ])('%d seconds are %s', (seconds, printed) => {
    expect(printTime(seconds)).toBe(printed)
  })

  test('seconds are cut, not rounded', () => {
    expect([secondsOf(1999), secondsOf(2000), secondsOf(-1)]).toEqual([1, 2, -1])
  })
})
