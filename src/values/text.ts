import { concat, fromUtf8, utf8 } from '../base/bytes.ts'
import { show } from '../base/json.ts'
import { type KeyType, stringOf, type ValueType } from './valueType.ts'

const ZERO_BYTE = new Uint8Array(1)

/** Text of any length. As a key it ends with a zero byte and holds none. */
export const text: KeyType<string, string> = {
  name: 'text',
  doc: 'text',
  exactForm: 'text',
  inputType: 'string',
  inputSchema: { type: 'string' },
  schema: { type: 'string' },
  sqlType: 'TEXT',
  fromJson: (json, refuse) => {
    const given = stringOf(json, 'a string', refuse)
    return given.isWellFormed() ? given : refuse('a string of whole Unicode characters')
  },
  toJson: (value) => value,
  wireToJson: (wire) => wire,
  check: () => undefined,
  parse: (given) => (given === '' || given.includes('\0') ? undefined : given),
  print: (value) => value,
  toWire: (value) => value,
  fromWire: (wire) => wire,
  isDefault: (value) => value === '',
  toSql: (value) => value,
  fromSql: (sql) => sql as string,
  isSqlOrdered: true,
  toKey: (value) => concat(utf8(value), ZERO_BYTE),
  fromKey: (key, start) => {
    const end = key.indexOf(0, start)
    const value = end < 0 ? undefined : fromUtf8(key.subarray(start, end))
    return value === undefined ? undefined : { value, next: end + 1 }
  },
}

/** Text of at most `bytesMax` bytes of UTF-8. A message holds any text: its length is the chain's to judge. */
export const textOf = (bytesMax: number): ValueType<string, string> => ({
  ...text,
  doc: `text, at most ${bytesMax} bytes of UTF-8`,
  exactForm: `text of at most ${bytesMax} bytes`,
  check: (wire) => {
    const { length } = utf8(wire)
    return length > bytesMax ? `expected at most ${bytesMax} bytes, got ${length}` : undefined
  },
})

/** One of a few texts. */
export function enumOf<const V extends string>(...values: readonly V[]): ValueType<V, string> {
  const byText = new Map<string, V>(values.map((value) => [value, value]))
  const exactForm = values.join(' or ')
  const known = (given: string): V => {
    const value = byText.get(given)
    if (value === undefined) throw new Error(`expected ${exactForm}, got ${show(given)}`)
    return value
  }
  return {
    name: 'enum',
    doc: exactForm,
    exactForm,
    inputType: values.map((value) => `'${value}'`).join(' | '),
    inputSchema: { type: 'string' },
    schema: { enum: values },
    sqlType: 'TEXT',
    fromJson: (json, refuse) => stringOf(json, exactForm, refuse),
    toJson: (value) => value,
    wireToJson: (wire) => wire,
    check: (wire) => (byText.has(wire) ? undefined : `expected ${exactForm}, got ${show(wire)}`),
    parse: (given) => byText.get(given),
    print: (value) => value,
    toWire: (value) => value,
    fromWire: known,
    isDefault: (value) => value === '',
    toSql: (value) => value,
    fromSql: (sql) => known(String(sql)),
  }
}

/** Y or N, in text. */
export const yesNo: ValueType<'Y' | 'N', string> = { ...enumOf('Y', 'N'), name: 'yesNo' }

/** True or false. SQL and text: Y or N. */
export const flag: ValueType<boolean, boolean> = {
  name: 'flag',
  doc: 'true or false',
  exactForm: 'true or false',
  inputType: 'boolean',
  inputSchema: { type: 'boolean' },
  schema: { type: 'boolean' },
  sqlType: 'TEXT',
  fromJson: (json, refuse) => (typeof json === 'boolean' ? json : refuse(flag.exactForm)),
  toJson: (value) => value,
  wireToJson: (wire) => wire,
  check: () => undefined,
  parse: (given) => (yesNo.parse(given) === undefined ? undefined : given === 'Y'),
  print: (value) => (value ? 'Y' : 'N'),
  toWire: (value) => value,
  fromWire: (wire) => wire,
  isDefault: (value) => !value,
  toSql: (value) => (value ? 'Y' : 'N'),
  fromSql: (sql) => sql === 'Y',
}
