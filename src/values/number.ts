import {
  type Amount,
  AMOUNT_MAX,
  ONE,
  parseAmount,
  parseDecimal,
  parseRatio,
  printRatio,
  type Ratio,
} from '../base/amount.ts'
import { show } from '../base/json.ts'
import { bigUint, uint as uintColumn } from './column.ts'
import { held, type KeyType, plainText, stringOf, type ValueType } from './valueType.ts'

const DIGITS = /^(?:[0-9]+|0x[0-9a-fA-F]+)$/
/** Most characters of a number in text: a number that is too large is to be refused for its size, not for its form. */
const DIGITS_MAX = 100
const INPUT_SCHEMA = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: DIGITS.source, maxLength: DIGITS_MAX },
  ],
} as const

/** The whole number in a safe integer, decimal text or 0x-hex text; undefined for anything else. */
function wholeNumber(json: unknown): bigint | undefined {
  if (typeof json === 'string') return json.length <= DIGITS_MAX && DIGITS.test(json) ? BigInt(json) : undefined
  return Number.isSafeInteger(json) && (json as number) >= 0 ? BigInt(json as number) : undefined
}

function parseUint(text: string): number | undefined {
  const value = text.length <= 16 ? parseDecimal(text) : undefined
  return value !== undefined && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined
}

/** A count, height, nonce, id or time: 0 to 2^53 − 1. As a key 8 bytes, the most significant first. */
export const uint: KeyType<number, number> = {
  ...plainText,
  ...uintColumn,
  name: 'uint',
  typedDataType: 'uint64',
  doc: 'a whole number',
  exactForm: 'an integer of 0 to 2^53 - 1 (a number, decimal text or 0x-hex text)',
  inputType: 'number | string | bigint',
  inputSchema: INPUT_SCHEMA,
  schema: { type: 'integer' },
  fromJson: (json, refuse) => {
    const value = wholeNumber(json)
    return value !== undefined && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : refuse(uint.exactForm)
  },
  parse: parseUint,
  inPath: { form: 'a decimal integer', parse: parseUint, print: uintColumn.print },
}

/** An integer of `min` to `max`. */
export function integerOf(min: number, max: number): ValueType<number, number> {
  const isWithin = (value: number): boolean => value >= min && value <= max
  const exactForm = `an integer of ${min} to ${max}`
  return {
    ...uint,
    name: 'integer',
    doc: exactForm,
    exactForm,
    inPath: undefined,
    inputSchema: { anyOf: [{ type: 'integer', minimum: min, maximum: max }, INPUT_SCHEMA.anyOf[1]] },
    // Text as of any other number: a command line has nothing else.
    fromJson: (json, refuse) => {
      const value = typeof json === 'string' ? Number(wholeNumber(json) ?? Number.NaN) : json
      return Number.isSafeInteger(value) ? (value as number) : refuse('an integer')
    },
    check: (wire) => (isWithin(wire) ? undefined : { expected: exactForm, got: wire }),
    parse: (text) => {
      const value = parseUint(text)
      return value !== undefined && isWithin(value) ? value : undefined
    },
  }
}

/** An amount in base units, 0 to 10^36. JSON, SQL and wire: decimal text; on the wire of a row zero is left out. */
export const amount: ValueType<Amount, string> = {
  ...plainText,
  ...bigUint,
  name: 'amount',
  typedDataType: 'uint256',
  doc: 'amount in base units',
  exactForm: `an amount of 0 to ${AMOUNT_MAX} base units (decimal text, 0x-hex text or a safe integer)`,
  inputType: 'string | bigint | number',
  inputSchema: INPUT_SCHEMA,
  schema: { type: 'string', pattern: '^[0-9]+$' },
  fromJson: (json, refuse) =>
    (wholeNumber(json) ?? refuse('an amount in base units (decimal text, 0x-hex text or a safe integer)')).toString(),
  toJson: bigUint.print,
  check: (wire) =>
    parseAmount(wire) === undefined ? { expected: `decimal text of 0 to ${AMOUNT_MAX}`, got: show(wire) } : undefined,
  parse: parseAmount,
}

/** A ratio of 0 to 1. JSON, SQL and wire: decimal text; on the wire of a row zero is left out. */
export const ratio: ValueType<Ratio, string> = {
  ...plainText,
  name: 'ratio',
  doc: 'ratio of 0 to 1, decimal text',
  exactForm: 'decimal text of 0 to 1',
  fromJson: (json, refuse) => stringOf(json, 'a ratio as decimal text', refuse),
  toJson: printRatio,
  check: (wire) =>
    ratio.parse(wire) === undefined
      ? { expected: `${ratio.exactForm} with at most 18 decimals`, got: show(wire) }
      : undefined,
  parse: (text) => {
    const value = parseRatio(text)
    return value !== undefined && value <= ONE ? value : undefined
  },
  print: printRatio,
  toWire: (value) => (value === 0n ? '' : printRatio(value)),
  fromWire: (wire) => (wire === '' ? 0n : held(parseRatio(wire), 'a ratio', wire)),
  fromSql: (sql) => held(parseRatio(String(sql)), 'a ratio', sql),
}

/** A ratio above 0, at most 1. */
export const positiveRatio: ValueType<Ratio, string> = {
  ...ratio,
  exactForm: 'a ratio above 0 and at most 1 with at most 18 decimals',
  check: (wire) =>
    positiveRatio.parse(wire) === undefined ? { expected: positiveRatio.exactForm, got: show(wire) } : undefined,
  parse: (text) => {
    const value = ratio.parse(text)
    return value === 0n ? undefined : value
  },
}
