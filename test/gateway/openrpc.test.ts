import { describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { methodGroups, methods } from '../../src/gateway/methods/list.ts'
import { openRpcDocument } from '../../src/gateway/openrpc.ts'
import { readParams } from '../../src/gateway/fields.ts'
import { schemaOf } from '../../src/tx/fields.ts'

interface Described {
  name: string
  tags: { name: string }[]
  params: { name: string; required: boolean; schema: object }[]
  result: { schema: object }
  errors: { code: number }[]
  examples: { params: { name: string; value: unknown }[]; result: { value: unknown } }[]
}

interface Document {
  openrpc: string
  info: { version: string }
  methods: Described[]
}

const document = JSON.parse(JSON.stringify(openRpcDocument(methodGroups, '1.2.3'))) as Document
const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })

test('the document describes every method, and no other', () => {
  expect(document).toMatchObject({ openrpc: '1.3.2', info: { version: '1.2.3' } })
  expect(document).toMatchObject({ servers: [{ url: '/' }] })
  expect(document.methods.map(({ name }) => name)).toEqual(methods.map(({ name }) => name))
})

test('a tag marks the methods that sign and those of a websocket, and the first tag of each names its group', () => {
  const tagged = (tag: string): readonly string[] =>
    document.methods.filter(({ tags }) => tags.some((one) => one.name === tag)).map(({ name }) => name)
  expect(tagged('signs')).toEqual(methods.filter(({ signs }) => signs === true).map(({ name }) => name))
  expect(tagged('signs')).toContain('svc_vote')
  expect(tagged('websocket')).toEqual(['svc_subscribe', 'svc_unsubscribe'])
  const groups = document.methods.map(({ tags: [first] }) => first?.name)
  expect([...new Set(groups)]).toEqual(methodGroups.map(({ name }) => name))
})

const described = document.methods.map((method) => [method.name, method] as const)

test.each(described)(
  '%s: params as they are read, schemas that compile, its errors',
  (name, { params, result, errors }) => {
    const method = methods.find((one) => one.name === name)
    expect(params.map((param) => [param.name, param.required])).toEqual(
      Object.entries(method?.input ?? {}).map(([member, { optional }]) => [member, !optional]),
    )
    for (const { schema } of [...params, result]) expect(ajv.compile(schema)).toBeInstanceOf(Function)
    expect(errors.map(({ code }) => code)).toContain(-32602)
  },
)

test.each(described.filter(([name]) => name !== 'rpc.discover'))(
  '%s: an example whose params are read and whose result fits its schema',
  (name, { result, examples: [example] }) => {
    const method = methods.find((one) => one.name === name)
    if (example === undefined)
      throw new Error(
        `${name} has no example in src/gateway/examples.json: ` +
          'call it in tools/record-examples.ts, then run `npm run examples`',
      )
    const params = Object.fromEntries(example.params.map((one) => [one.name, one.value]))
    expect(() => readParams(method as (typeof methods)[0], params)).not.toThrow()
    const fits = ajv.compile(result.schema)
    fits(example.result.value)
    expect(fits.errors).toBeNull()
  },
)

test('a limit in any text that is read fits its schema', () => {
  const { input } = methods.find(({ name }) => name === 'svc_getTransactions') as (typeof methods)[0]
  const fits = ajv.compile(schemaOf(input))
  for (const limit of [7, '7', '0x1f', '00000007']) {
    const given = { address: `0x${'ab'.repeat(20)}`, limit }
    expect([limit, fits(given), readParams({ input, positional: 1 }, given)['limit']]).toEqual([
      limit,
      true,
      Number(limit),
    ])
  }
  expect(fits({ address: `0x${'ab'.repeat(20)}`, limit: 101 })).toBe(false)
})

/** Values near what members take: each kind's right forms, and wrong ones. */
const value = fc.oneof(
  fc.string(),
  fc.integer({ min: -3, max: 9 }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(
    {},
    { name: 'x' },
    { nom: 1 },
    [],
    '0x1f',
    '12',
    '0x',
    '',
    'Y',
    'AQI=',
    'AQI',
    'AR==',
    '1e3',
    '0xZZ',
    2 ** 53,
    2 ** 53 - 1,
    `0x${'aB'.repeat(20)}`,
    `0x${'ab'.repeat(21)}`,
    'pending',
    'ab'.repeat(32),
    '9'.repeat(100),
    '9'.repeat(101),
  ),
)

/**
 * What no JSON Schema says: base64 whose last bits are not 0, integers in text above 2^53 - 1, text with half a
 * character.
 */
const isBeyondSchema = (given: unknown): boolean =>
  typeof given === 'string'
    ? !given.isWellFormed() || given === 'AR==' || /^(?:[0-9]+|0x[0-9a-fA-F]+)$/.test(given)
    : typeof given === 'object' && given !== null && Object.values(given).some(isBeyondSchema)

describe('the schema of a method accepts exactly what is read', () => {
  const said = methods
    .filter(({ name }) => name !== 'svc_sendRawTransaction')
    .map((method) => [method.name, method] as const)
  test.each(said)('%s', (_name, method) => {
    const { input } = method
    const accepts = ajv.compile(schemaOf(input))
    const names = Object.keys(input)
    const right = Object.fromEntries(
      names.map((name) => [name, fc.constantFrom(`0x${'aB'.repeat(20)}`, 'AQI=', 7, 'x')]),
    )
    const near = fc.record({ ...right }, { requiredKeys: [] })
    fc.assert(
      fc.property(near, fc.dictionary(fc.constantFrom(...names, 'other'), value, { maxKeys: 2 }), (some, more) => {
        const given: Readonly<Record<string, unknown>> = { ...some, ...more }
        fc.pre(!Object.values(given).some(isBeyondSchema))
        let isRead = true
        try {
          readParams(method, given)
        } catch {
          isRead = false
        }
        expect([given, accepts(given)]).toEqual([given, isRead])
      }),
      { numRuns: 150 },
    )
  })
})
