import { utf8 } from '../base/bytes.ts'
import { show } from '../base/json.ts'
import { bool, text as textColumn } from './column.ts'
import {
  held,
  type InputType,
  type KeyType,
  limited,
  plainText,
  type Refuse,
  stringOf,
  type ValueType,
} from './valueType.ts'

/** Text of any length. As a key it ends with a zero byte and holds none. */
export const text: KeyType<string, string> = {
  ...plainText,
  ...textColumn,
  name: 'text',
  doc: 'text',
  exactForm: 'text',
  fromJson: (json, refuse) => {
    const given = stringOf(json, 'a string', refuse)
    return given.isWellFormed() ? given : refuse('a string of whole Unicode characters')
  },
  parse: (given) => (given === '' || given.includes('\0') ? undefined : given),
}

/** Text of at most `bytesMax` bytes of UTF-8. A message holds any text: its length is the chain's to judge. */
export const textOf = (bytesMax: number): ValueType<string, string> => ({
  ...text,
  doc: `text, at most ${bytesMax} bytes of UTF-8`,
  exactForm: `text of at most ${bytesMax} bytes`,
  limits: { bytesMax },
  check: (wire) => {
    const { length } = utf8(wire)
    return length > bytesMax ? { expected: `at most ${bytesMax} bytes`, got: length } : undefined
  },
})

/** One of a few texts. */
export function enumOf<const V extends string>(...values: readonly V[]): ValueType<V, string> {
  const byText = new Map<string, V>(values.map((value) => [value, value]))
  const exactForm = values.join(' or ')
  const known = (given: unknown): V => held(byText.get(String(given)), exactForm, given)
  return {
    ...plainText,
    name: 'enum',
    doc: exactForm,
    exactForm,
    limits: { oneOf: values },
    inputType: values.map((value) => `'${value}'`).join(' | '),
    schema: { enum: values },
    fromJson: (json, refuse) => stringOf(json, exactForm, refuse),
    check: (wire) => (byText.has(wire) ? undefined : { expected: exactForm, got: show(wire) }),
    parse: (given) => byText.get(given),
    fromWire: known,
    fromSql: known,
  }
}

/** One of a few texts, of which a caller may give no other. `doc` is for the docs. */
export function choiceOf<const V extends string>(
  name: string,
  doc: string,
  values: readonly V[],
): ValueType<V, string> {
  const type = enumOf(...values)
  const exactForm = values.length > 1 ? `one of ${values.join(', ')}` : values.join()
  return {
    ...type,
    name,
    doc,
    exactForm,
    inputSchema: { enum: values },
    fromJson: (json, refuse) => type.parse(stringOf(json, exactForm, refuse)) ?? refuse(exactForm),
  }
}

/** What else callers may say for Y and N: the first clients of this interface send true and false. */
const WORDS: ReadonlyMap<unknown, 'Y' | 'N'> = new Map<unknown, 'Y' | 'N'>([
  [true, 'Y'],
  ['true', 'Y'],
  [false, 'N'],
  ['false', 'N'],
])

const withWords = <T extends InputType<string>>(type: T): T => ({
  ...type,
  doc: 'Y or N; true and false are read as Y and N',
  inputType: `${type.inputType} | boolean`,
  inputSchema: { anyOf: [type.inputSchema, { type: 'boolean' }] },
  fromJson: (json: unknown, refuse: Refuse) => WORDS.get(json) ?? type.fromJson(json, refuse),
})

/** Y or N, in text. Callers may also say true or false. */
export const yesNo: ValueType<'Y' | 'N', string> = { ...withWords(enumOf('Y', 'N')), name: 'yesNo' }

/** The same where a message holds any text: the operation refuses what is neither, with a log of its own. */
export const yesNoText: InputType<string> = { ...withWords(limited(text, { oneOf: ['Y', 'N'] })), name: 'yesNoText' }

/** True or false. SQL and text: Y or N. */
export const flag: ValueType<boolean, boolean> = {
  ...plainText,
  ...bool,
  name: 'flag',
  doc: 'true or false',
  exactForm: 'true or false',
  inputType: 'boolean',
  inputSchema: { type: 'boolean' },
  schema: { type: 'boolean' },
  fromJson: (json, refuse) => (typeof json === 'boolean' ? json : refuse(flag.exactForm)),
  parse: (given) => (yesNo.parse(given) === undefined ? undefined : given === 'Y'),
  inPath: {
    form: 'one of true, false',
    parse: (given) => (given === 'true' || given === 'false' ? given === 'true' : undefined),
    print: String,
  },
}
