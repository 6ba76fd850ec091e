import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { address, addressOf, addressOrNone } from '../../src/values/address.ts'
import { AMOUNT_MAX, ONE } from '../../src/base/amount.ts'
import { compareBytes, concat } from '../../src/base/bytes.ts'
import { proposalId, proposalIdOf, pubKey, pubKeyOf } from '../../src/values/pubKey.ts'
import { amount, integerOf, positiveRatio, ratio, uint } from '../../src/values/number.ts'
import { maybe, orNull, record } from '../../src/values/shape.ts'
import { enumOf, flag, text, textOf, yesNo } from '../../src/values/text.ts'
import type { KeyType, ValueType } from '../../src/values/valueType.ts'

const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length })
const addresses = bytes(20).map(addressOf)
const uints = fc.maxSafeNat()
const texts = fc.string({ unit: 'binary', minLength: 1 }).filter((one) => !one.includes('\0') && one.isWellFormed())
const ratios = fc.bigInt({ min: 0n, max: ONE })

interface Case<T> {
  readonly name: string
  readonly type: ValueType<T>
  readonly values: fc.Arbitrary<T>
  /** Text that `parse` refuses. */
  readonly bad: readonly string[]
}

const kind = <T>(name: string, type: ValueType<T>, values: fc.Arbitrary<T>, bad: readonly string[]): Case<unknown> => ({
  name,
  type,
  values,
  bad,
})

/** Every type of value. */
const CASES: readonly Case<unknown>[] = [
  kind('address', address, addresses, ['', '0x12', 'x']),
  kind('addressOrNone', addressOrNone, fc.oneof(addresses, fc.constant('' as const)), ['0x12', 'x']),
  kind('pubKey', pubKey, bytes(32).map(pubKeyOf), ['', 'AAAA', '0'.repeat(64)]),
  kind('proposalId', proposalId, bytes(32).map(proposalIdOf), ['', 'AAAA', '0'.repeat(64)]),
  kind('uint', uint, uints, ['', '-1', '01', '1.5', '9007199254740992', '0x1']),
  kind('integerOf', integerOf(3, 900), fc.integer({ min: 3, max: 900 }), ['', '2', '901', '04']),
  kind('amount', amount, fc.bigInt({ min: 0n, max: AMOUNT_MAX }), ['', '-1', '01', String(AMOUNT_MAX + 1n)]),
  kind('ratio', ratio, ratios, ['', '1.1', '.5', '-0.1', '0.1234567890123456789']),
  kind(
    'positiveRatio',
    positiveRatio,
    ratios.filter((one) => one > 0n),
    ['', '0', '0.0', '1.1'],
  ),
  kind('text', text, texts, ['', 'a\0']),
  kind(
    'textOf',
    textOf(8),
    texts.filter((one) => Buffer.byteLength(one) <= 8),
    [''],
  ),
  kind('enumOf', enumOf('A', 'B', ''), fc.constantFrom('A', 'B', ''), ['C', 'a']),
  kind('yesNo', yesNo, fc.constantFrom('Y', 'N'), ['', 'y', 'true']),
  kind('flag', flag, fc.boolean(), ['', 'y', 'true']),
]

const refuse = (form: string): never => {
  throw new Error(`expected ${form}`)
}

describe.each(CASES)('$name', ({ type, values, bad }) => {
  const every = (check: (value: unknown) => void): void => fc.assert(fc.property(values, check))

  test('what the chain answers is read as the same value', () =>
    every((value) => {
      const wire = type.fromJson(type.toJson(value), refuse)
      expect(type.check(wire)).toBeUndefined()
      expect(type.fromWire(wire)).toEqual(value)
      expect(type.wireToJson(wire)).toEqual(type.toJson(value))
    }))

  test('the wire form, the SQL column and the canonical text give the value back', () =>
    every((value) => {
      expect(type.fromWire(type.toWire(value))).toEqual(value)
      expect(type.fromSql(type.sqlType === 'INTEGER' ? BigInt(value as number) : type.print(value))).toEqual(value)
      if (type.print(value) !== '') expect(type.parse(type.print(value))).toEqual(value)
    }))

  test('only the falsy value is left out of a message', () =>
    every((value) => {
      const wire = type.toWire(value)
      const isEmpty = wire === '' || wire === 0 || wire === false || (wire instanceof Uint8Array && wire.length === 0)
      expect(!value).toBe(isEmpty)
    }))

  test.each(bad.map((one) => [one]))('%j is no value', (one) => {
    expect(type.parse(one)).toBeUndefined()
  })
})

const keyCase = <T>(name: string, type: KeyType<T>, values: fc.Arbitrary<T>) => ({ name, type, values }) as const
const KEYS = [
  keyCase('address', address, addresses),
  keyCase('pubKey', pubKey, bytes(32).map(pubKeyOf)),
  keyCase('proposalId', proposalId, bytes(32).map(proposalIdOf)),
  keyCase('uint', uint, uints),
  keyCase('text', text, texts),
] as const

describe.each(KEYS as readonly { name: string; type: KeyType<unknown>; values: fc.Arbitrary<unknown> }[])(
  'a key part: $name',
  ({ name, type, values }) => {
    test('is read back from the middle of a key, and a cut one is none', () => {
      fc.assert(
        fc.property(values, fc.uint8Array({ maxLength: 5 }), (value, before) => {
          const part = type.toKey(value)
          const key = concat(before, part, Uint8Array.of(7))
          expect(type.fromKey(key, before.length)).toEqual({ value, next: before.length + part.length })
          expect(type.fromKey(part.subarray(0, -1), 0)).toBeUndefined()
        }),
      )
    })

    test('sorts as its value does', () => {
      const order = (a: unknown, b: unknown): number => {
        if (name === 'text') return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
        return (a as number) < (b as number) ? -1 : a === b ? 0 : 1
      }
      fc.assert(
        fc.property(values, values, (a, b) => {
          expect(Math.sign(compareBytes(type.toKey(a), type.toKey(b)))).toBe(order(a, b))
        }),
      )
    })
  },
)

test('an amount and a number are read from a number, decimal text and 0x-hex text', () => {
  for (const json of [16, '16', '0x10', '016']) {
    expect(amount.fromJson(json, refuse)).toBe('16')
    expect(uint.fromJson(json, refuse)).toBe(16)
  }
  for (const json of [-1, 1.5, '1.5', 'x', true, null]) {
    expect(() => amount.fromJson(json, refuse)).toThrow('expected an amount in base units')
    expect(() => uint.fromJson(json, refuse)).toThrow('expected an integer of 0 to 2^53 - 1')
  }
})

test('a record writes null for a member that may be null, and leaves out one that may be left out', () => {
  const shape = record('Sample', { nullable: orNull(uint), optional: maybe(uint) })
  expect(shape.toJson({ nullable: undefined, optional: undefined })).toEqual({ nullable: null })
  expect(shape.toJson({ nullable: 1, optional: 2 })).toEqual({ nullable: 1, optional: 2 })
  expect(shape.schema).toMatchObject({ required: ['nullable'] })
})
