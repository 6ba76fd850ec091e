import { fromBase64, fromHex, toBase64 } from '../base/bytes.ts'
import { type Field, field, FieldError, type Fields, readFields } from '../tx/fields.ts'
import type { Params } from './envelope.ts'

const textField = {
  inputType: 'string',
  wireToJson: (wire: string): string => wire,
  check: (): undefined => undefined,
} as const

/** A transaction's hash: 64 hex digits in any letter case, 0x before them or not. Held in upper case. */
export const transactionHash: Field<string> = field({
  ...textField,
  name: 'transactionHash',
  doc: 'transaction hash, 64 hex digits',
  inputSchema: { type: 'string', pattern: '^(?:0x)?[0-9a-fA-F]{64}$' },
  fromJson: (json, refuse) =>
    typeof json === 'string' && /^(?:0x)?[0-9a-fA-F]{64}$/.test(json)
      ? json.slice(-64).toUpperCase()
      : refuse('a transaction hash (64 hex digits)'),
})

/** Transaction bytes in base64 or 0x-hex. */
export const transactionBytes: Field<Uint8Array> = field({
  ...textField,
  name: 'transactionBytes',
  doc: 'transaction bytes, base64 or 0x-hex',
  inputSchema: { type: 'string' },
  fromJson: (json, refuse) => {
    const text = typeof json === 'string' ? json : ''
    const bytes = text.startsWith('0x') ? fromHex(text.slice(2)) : fromBase64(text)
    return bytes === undefined || typeof json !== 'string' ? refuse('base64 text or 0x-hex text') : bytes
  },
  wireToJson: toBase64,
})

function oneOf(name: string, values: readonly string[], form: string, doc: string): Field<string> {
  return field({
    ...textField,
    name,
    doc,
    inputSchema: { enum: values },
    fromJson: (json, refuse) => (typeof json === 'string' && values.includes(json) ? json : refuse(form)),
  })
}

/** Which transactions of an account are counted. */
export const countedUpTo: Field<string> = oneOf(
  'countedUpTo',
  ['latest', 'pending'],
  'latest or pending',
  'latest (committed, the default) or pending (those that wait too)',
)

/** Whether a call waits for the block. */
export const waitForBlock: Field<boolean> = field({
  name: 'waitForBlock',
  doc: 'whether to wait for the block (true, the default) or to answer after CheckTx (false)',
  inputType: 'boolean',
  inputSchema: { type: 'boolean' },
  fromJson: (json, refuse) => (typeof json === 'boolean' ? json : refuse('true or false')),
  wireToJson: (wire: boolean): boolean => wire,
  check: () => undefined,
})

/** A table of the state. */
export const rowTable = (names: readonly string[]): Field<string> =>
  oneOf('rowTable', names, `one of ${names.join(', ')}`, 'table of the state, as protocol.md §2 lists them')

const ROW_KEY = '^[A-Za-z0-9_=/-]{0,128}$'

/** The key of a row. What the parts mean is the application's to judge. */
export const rowKey: Field<string> = field({
  ...textField,
  name: 'rowKey',
  doc: "parts of the row's key, / between them: addresses, numbers, names, 32 bytes as base64 with the URL-safe alphabet",
  inputSchema: { type: 'string', pattern: ROW_KEY },
  fromJson: (json, refuse) =>
    typeof json === 'string' && new RegExp(ROW_KEY).test(json)
      ? json
      : refuse('the parts of a key with / between them, at most 128 characters of A-Z a-z 0-9 _ - ='),
})

/**
 * How the fields of a method are given: the first `count` by position or all by name; or in one object, alone or in an
 * array.
 */
export type ParamsForm = { readonly form: 'positional'; readonly count: number } | { readonly form: 'object' }

function named(fields: Fields, form: ParamsForm, params: Params): unknown {
  if (!Array.isArray(params)) return params ?? {}
  if (form.form === 'object') {
    if (params.length !== 1) throw new FieldError('params', 'one object of members', params)
    return params[0]
  }
  if (params.length > form.count) throw new FieldError('params', `at most ${form.count} by position`, params)
  const names = Object.keys(fields)
  return Object.fromEntries(params.map((value, place) => [names[place], value]))
}

/** The fields in the params of a call. Throws a FieldError, which is -32602. Source: protocol.md §10. */
export const readParams = (fields: Fields, form: ParamsForm, params: Params): Readonly<Record<string, unknown>> =>
  readFields(fields, named(fields, form, params)) as Readonly<Record<string, unknown>>
