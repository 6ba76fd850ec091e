import { describe, expect, test } from '@jest/globals'
import { toBase64 } from '../../src/base/bytes.ts'
import {
  checkFields,
  decodeFields,
  type Field,
  field,
  fieldNames,
  nested,
  optional,
  printFields,
  readFields,
  schemaOf,
} from '../../src/tx/fields.ts'
import { address } from '../../src/values/address.ts'
import { proposalId, pubKey } from '../../src/values/pubKey.ts'
import { amount, ratio, uint } from '../../src/values/number.ts'
import { text, textOf, yesNo, yesNoText } from '../../src/values/text.ts'

const KEY = toBase64(new Uint8Array(32).fill(1))
const SAFE_MAX = Number.MAX_SAFE_INTEGER
const ADDRESS = `0x${'ab'.repeat(20)}`

/** What reading one field of a type gives, or the message of its refusal. */
function read<W>(field: Field<W, unknown>, value: unknown): unknown {
  try {
    return (readFields({ it: field }, { it: value }) as { it?: unknown }).it
  } catch (error) {
    return (error as Error).message
  }
}

/** Check 5 of one field's wire value. */
const check = <W>(field: Field<W, unknown>, value: W): string | undefined =>
  checkFields({ it: field }, { it: value } as never)

describe('reading', () => {
  test.each([yesNo, yesNoText])('$name takes true and false for Y and N, as JSON and as text', (type) => {
    expect([true, 'true', 'Y', false, 'false', 'N'].map((given) => read(field(type), given))).toEqual([
      ...['Y', 'Y', 'Y'],
      ...['N', 'N', 'N'],
    ])
    for (const given of [1, 'TRUE', 'yes', 'y', '']) expect(read(field(type), given)).not.toBe('Y')
    expect(read(field(type), 1)).toMatch(/^it: expected /)
  })

  test.each([
    [0, 0],
    [7, 7],
    ['7', 7],
    ['007', 7],
    ['0x1f', 31],
    [SAFE_MAX, SAFE_MAX],
    ['9007199254740991', SAFE_MAX],
  ])('a number may be given as %j', (given, wire) => {
    expect(read(field(uint, 'n'), given)).toBe(wire)
  })

  const notNumbers = [
    -1,
    0.5,
    2 ** 53,
    '9007199254740992',
    '-1',
    '1.0',
    '',
    ' 1',
    '1e3',
    '0x',
    'x',
    true,
    [],
    {},
    '9'.repeat(101),
  ]
  test.each(notNumbers.map((bad) => [bad]))('no number: %j', (bad) => {
    expect(read(field(uint, 'n'), bad)).toMatch(/^it: expected an integer of 0 to 2\^53 - 1 .*, got /)
  })

  test.each([
    [0, '0'],
    ['10', '10'],
    ['0x10', '16'],
    ['00', '0'],
    [5, '5'],
    ['9'.repeat(60), '9'.repeat(60)],
  ])('an amount may be given as %j', (given, wire) => {
    expect(read(field(amount, 'a'), given)).toBe(wire)
  })

  test.each([-1, 0.5, 2 ** 53, '-1', '1.5', '', 'abc', '1e18', '9'.repeat(101)].map((bad) => [bad]))(
    'no amount: %j',
    (bad) => {
      expect(read(field(amount, 'a'), bad)).toMatch(/^it: expected an amount in base units .*, got /)
    },
  )

  test('an address is read in any letter case, and nothing else is one', () => {
    expect(read(field(address), ADDRESS.toUpperCase().replace('0X', '0x'))).toEqual(new Uint8Array(20).fill(0xab))
    for (const bad of ['0x1', 5, ADDRESS.slice(2)]) {
      expect(read(field(address), bad)).toMatch('it: expected an address (0x and 40 hex digits), got ')
    }
  })

  test("a key is read as base64 of any length: its length is the chain's to judge", () => {
    expect(read(field(pubKey), KEY)).toEqual(new Uint8Array(32).fill(1))
    expect(read(field(pubKey), 'AQ==')).toEqual(Uint8Array.of(1))
    for (const bad of ['not base64!', 5, 'AQ'])
      expect(read(field(proposalId), bad)).toMatch('it: expected base64 text, got ')
  })

  test('half a character is no text', () => {
    expect(read(field(textOf(5)), 'ab')).toBe('ab')
    expect(read(field(textOf(5)), '\ud800')).toMatch('it: expected a string of whole Unicode characters')
    expect(read(field(text, 't'), 5)).toBe('it: expected a string, got 5')
  })

  test('what was given is shown in at most 80 characters', () => {
    expect((read(field(uint, 'n'), 'x'.repeat(5000)) as string).length).toBeLessThan(180)
  })
})

describe('fields', () => {
  const fields = {
    pubKey: field(pubKey),
    reason: optional(field(textOf(4))),
    inner: optional(nested({ name: optional(field(textOf(3))) }, 'an object')),
  }

  test('a field with fields of its own may not be left out either', () => {
    const whole = { inner: nested({ name: field(textOf(3)) }, 'an object') }
    expect(() => readFields(whole, {})).toThrow('inner: this member is required: an object')
  })

  test('a message without fields takes no members', () => {
    expect(() => readFields({}, { more: 1 })).toThrow('more: expected one of no members, got 1')
  })

  test('a required field that is missing or null is named', () => {
    for (const input of [{}, { pubKey: null }]) {
      expect(() => readFields(fields, input)).toThrow(
        'pubKey: this member is required: public key of the validator node',
      )
    }
  })

  test('an unknown field is named, also inside a field, with those that there are', () => {
    expect(() => readFields(fields, { pubKey: KEY, pubkey: 1 })).toThrow(
      'pubkey: expected one of pubKey, reason, inner, got 1',
    )
    expect(() => readFields(fields, { pubKey: KEY, inner: { nam: 'x' } })).toThrow('inner.nam: expected one of name')
    expect(() => readFields(fields, { ['n'.repeat(100)]: 1 })).toThrow(`${'n'.repeat(100)}: expected`)
    expect(() => readFields(fields, { ['n'.repeat(1_000_000)]: 1 })).toThrow(/^n{97}\.{3}: expected one of .{1,100}$/)
  })

  test('a field of the prototype is not given', () => {
    expect(() => readFields({ toString: optional(field(textOf(3))) }, {})).not.toThrow()
    expect(() => readFields(fields, JSON.parse(`{"pubKey":"${KEY}","__proto__":{"reason":"x"}}`))).toThrow(
      '__proto__: expected one of',
    )
  })

  test('JSON null is not given, the empty text is', () => {
    expect(readFields(fields, { pubKey: KEY, reason: null })).toEqual({ pubKey: new Uint8Array(32).fill(1) })
    expect(readFields(fields, { pubKey: KEY, reason: '' })).toEqual({
      pubKey: new Uint8Array(32).fill(1),
      reason: '',
    })
  })

  test.each([[[]], ['x'], [null], [5]])('params that are no object are refused: %j', (input) => {
    expect(() => readFields(fields, input)).toThrow('params: expected an object of members')
  })

  test('a message prints the way it is read', () => {
    const json = { pubKey: KEY, reason: 'why', inner: { name: 'me' } }
    for (const one of [json, { pubKey: KEY }]) expect(printFields(fields, readFields(fields, one))).toStrictEqual(one)
  })

  test('the schema of an input closes it and says which fields are required', () => {
    expect(schemaOf(fields)).toMatchObject({ type: 'object', required: ['pubKey'], additionalProperties: false })
    expect(schemaOf({ it: optional(field(uint)) })).not.toHaveProperty('required')
  })
})

describe('check 5', () => {
  test('text is measured in bytes of UTF-8', () => {
    expect(check(field(textOf(4)), 'aaaa')).toBeUndefined()
    expect(check(field(textOf(4)), 'aaaaa')).toBe('it: expected at most 4 bytes, got 5')
    expect(check(field(textOf(4)), 'éé')).toBeUndefined()
    expect(check(field(textOf(4)), 'ééa')).toBe('it: expected at most 4 bytes, got 5')
  })

  test('keys have 32 bytes, addresses 20', () => {
    expect(check(field(pubKey), new Uint8Array(32))).toBeUndefined()
    expect(check(field(pubKey), new Uint8Array(31))).toBe('it: expected 32 bytes, got 31')
    expect(check(field(address), new Uint8Array(21))).toBe('it: expected 20 bytes, got 21')
  })

  test('amounts are canonical and at most 10^36', () => {
    expect(check(field(amount, 'a'), (10n ** 36n).toString())).toBeUndefined()
    for (const bad of [(10n ** 36n + 1n).toString(), '01', '', '-1', 'x']) {
      expect(check(field(amount, 'a'), bad)).toMatch('it: expected decimal text of 0 to 1000')
    }
  })

  test('ratios keep to their range', () => {
    const kind = field(ratio, 'r')
    for (const good of ['0', '1', '0.5', '1.0', '0.999999999999999999']) expect(check(kind, good)).toBeUndefined()
    for (const bad of ['1.000000000000000001', '2', '', '.5', 'x'])
      expect(check(kind, bad)).toMatch('it: expected decimal text of 0 to 1')
  })

  test('Y and N are the only answers, and fields inside fields are named by their path', () => {
    expect(check(field(yesNo, 'v'), 'y')).toBe('it: expected Y or N, got "y"')
    expect(checkFields({ d: nested({ name: field(textOf(1)) }, 'd') }, { d: { name: 'ab' } })).toBe(
      'd.name: expected at most 1 bytes, got 2',
    )
  })
})

describe('what a message means', () => {
  const fields = {
    to: field(address),
    value: field(amount),
    rate: optional(field(ratio)),
    answer: field(yesNoText),
    about: optional(nested({ key: optional(field(pubKey)), name: field(text) }, 'about')),
  }
  const wire = { to: new Uint8Array(20).fill(0xab), value: '7', answer: 'maybe' }

  test('is in the values of its types; what is left out stays out', () => {
    expect(decodeFields(fields, wire)).toEqual({ to: ADDRESS, value: 7n, answer: 'maybe' })
    expect(
      decodeFields(fields, { ...wire, rate: '0.5', about: { key: new Uint8Array(32).fill(1), name: 'x' } }),
    ).toEqual({
      to: ADDRESS,
      value: 7n,
      answer: 'maybe',
      rate: 5n * 10n ** 17n,
      about: { key: '01'.repeat(32), name: 'x' },
    })
  })

  test('is refused for the first field that is bad, whatever stands before it', () => {
    expect(checkFields(fields, wire)).toBeUndefined()
    expect(checkFields(fields, { ...wire, value: 'x' })).toMatch(/^value: /)
    expect(checkFields(fields, { ...wire, value: 'x', rate: 'y' })).toMatch(/^value: /)
  })

  test('fields say what they are: those inside another are an object', () => {
    expect(fields.about).toMatchObject({ type: 'object', inputType: 'object', optional: true })
    expect([fields.to.valueType, fields.about.valueType]).toEqual([address, undefined])
    expect(fieldNames(fields)).toEqual(['to', 'value', 'rate', 'answer', 'about'])
  })
})
