import { fromBase64, fromHex, toBase64 } from '../../base/bytes.ts'
import { type Field, field, FieldError, readFields } from '../../tx/fields.ts'
import { HISTORY_POSITION, parseHistoryPosition } from '../../values/historyPosition.ts'
import { integerOf, uint } from '../../values/number.ts'
import type { JsonSchema } from '../../values/valueType.ts'
import type { Params } from './envelope.ts'
import type { Method } from './methods/define.ts'

interface TextForm<Wire> {
  readonly name: string
  readonly doc: string
  /** The form that the error of any other value names. */
  readonly form: string
  readonly inputType?: string
  readonly inputSchema?: JsonSchema
  /** What the text stands for; undefined when it is not of the form. */
  readonly read: (text: string) => Wire | undefined
}

const textField = <Wire extends string | Uint8Array>({ form, read, ...type }: TextForm<Wire>): Field<Wire> =>
  field({
    inputType: 'string',
    inputSchema: { type: 'string' },
    ...type,
    fromJson: (json, refuse) => (typeof json === 'string' ? read(json) : undefined) ?? refuse(form),
    wireToJson: (wire) => (typeof wire === 'string' ? wire : toBase64(wire)),
    check: () => undefined,
  })

const HASH = '^(?:0x)?[0-9a-fA-F]{64}$'

/** A transaction's hash: 64 hex digits in any letter case, 0x before them or not. Held in upper case. */
export const transactionHash = textField({
  name: 'transactionHash',
  doc: 'transaction hash, 64 hex digits',
  form: 'a transaction hash (64 hex digits)',
  inputSchema: { type: 'string', pattern: HASH },
  read: (text) => (new RegExp(HASH).test(text) ? text.slice(-64).toUpperCase() : undefined),
})

/** Where a page of a history ends. */
export const before = textField({
  name: 'position',
  doc: 'only what is older: the `next` of the page before, or a height',
  form: 'a height as text ("120"), or the `next` of a page ("120/3")',
  inputSchema: { type: 'string', pattern: HISTORY_POSITION.source },
  read: (text) => (parseHistoryPosition(text) === undefined ? undefined : text),
})

/** How many rows a page has. */
export function pageLimit(fallback: number, max: number): Field<number> {
  const { inputSchema, exactForm, check } = integerOf(1, max)
  const fromJson: typeof uint.fromJson = (json, refuse) => {
    const limit = uint.fromJson(json, () => refuse(exactForm))
    return check(limit) === undefined ? limit : refuse(exactForm)
  }
  return field({ ...uint, inputSchema, fromJson }, `most rows to answer, 1 to ${max}; ${fallback} when left out`)
}

/** A block: `latest`, a height, or a hash in upper case. */
export const blockId = field<string>({
  name: 'blockId',
  doc: 'height, hash (64 hex digits) or latest',
  inputType: `'latest' | ${uint.inputType}`,
  inputSchema: {
    anyOf: [{ enum: ['latest'] }, { type: 'string', pattern: HASH }, ...(uint.inputSchema['anyOf'] as JsonSchema[])],
  },
  fromJson: (json, refuse) => {
    if (json === 'latest') return json
    if (typeof json === 'string' && new RegExp(HASH).test(json)) return json.slice(-64).toUpperCase()
    return String(uint.fromJson(json, () => refuse('a height, a hash (64 hex digits) or latest')))
  },
  wireToJson: (wire) => wire,
  check: () => undefined,
})

/** Transaction bytes in base64 or 0x-hex. */
export const transactionBytes = textField({
  name: 'transactionBytes',
  doc: 'transaction bytes, base64 or 0x-hex',
  form: 'base64 text or 0x-hex text',
  read: (text) => (text.startsWith('0x') ? fromHex(text.slice(2)) : fromBase64(text)),
})

const choices = (values: readonly string[]): string => `one of ${values.join(', ')}`

/** One of a few texts. `form`: how the error of any other value names them. */
export const oneOf = (
  name: string,
  values: readonly string[],
  doc = choices(values),
  form = choices(values),
): Field<string> =>
  textField({
    name,
    doc,
    form,
    inputType: values.map((value) => `'${value}'`).join(' | '),
    inputSchema: { enum: values },
    read: (text) => (values.includes(text) ? text : undefined),
  })

/** Which transactions of an account are counted. */
export const countedUpTo = oneOf(
  'countedUpTo',
  ['latest', 'pending'],
  'latest (committed, the default) or pending (those that wait too)',
  'latest or pending',
)

/** Of which block a balance is asked for. */
export const latestBlock = oneOf('latestBlock', ['latest'], 'latest: the answer is always for the head', 'latest')

const ROW_KEY = '^[A-Za-z0-9_=/-]{0,128}$'

/** The key of a row. What the parts mean is the application's to judge. */
export const rowKey = textField({
  name: 'rowKey',
  doc: "parts of the row's key, / between them: addresses, numbers, names, 32 bytes as base64 with the URL-safe alphabet",
  form: 'the parts of a key with / between them, at most 128 characters of A-Z a-z 0-9 _ - =',
  inputSchema: { type: 'string', pattern: ROW_KEY },
  read: (text) => (new RegExp(ROW_KEY).test(text) ? text : undefined),
})

function named({ input, positional }: Pick<Method, 'input' | 'positional'>, params: Params): unknown {
  if (!Array.isArray(params)) return params ?? {}
  if (positional === undefined) {
    if (params.length !== 1) throw new FieldError('params', 'one object of members', params)
    return params[0]
  }
  if (params.length > positional) throw new FieldError('params', `at most ${positional} by position`, params)
  const names = Object.keys(input)
  return Object.fromEntries(params.map((value, index) => [names[index], value]))
}

/** The fields of a method in the params of a call. Throws a FieldError, which is -32602. Source: protocol.md §10. */
export const readParams = (
  method: Pick<Method, 'input' | 'positional'>,
  params: Params,
): Readonly<Record<string, unknown>> => readFields(method.input, named(method, params))
