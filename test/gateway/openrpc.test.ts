import { describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { methodGroups, methods } from '../../src/gateway/rpc/methods/list.ts'
import { pascalCase } from '../../src/base/pascalCase.ts'
import { createTitler } from '../../src/gateway/rpc/schemaTitles.ts'
import { readParams } from '../../src/gateway/rpc/fields.ts'
import { schemaOf } from '../../src/tx/fields.ts'
import { openRpcDocument } from '../../tools/reference/openRpc.ts'

interface Schema {
  title?: string
  type?: string
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

interface Described {
  name: string
  paramStructure: string
  tags: { name: string }[]
  params: { name: string; required: boolean; schema: Schema }[]
  result: { schema: Schema }
  errors: { code: number }[]
  examples: { params: { name: string; value: unknown }[]; result: { value: unknown } }[]
}

interface Document {
  openrpc: string
  info: { version: string }
  methods: Described[]
}

const URL_OF_IT = 'https://stake.example:8545/'
const document = openRpcDocument('1.2.3', URL_OF_IT) as Document
const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })

test("the document describes every method but OpenRPC's own, and no other", () => {
  expect(document).toMatchObject({ openrpc: '1.2.6', info: { version: '1.2.3' }, servers: [{ url: URL_OF_IT }] })
  const names = document.methods.map(({ name }) => name)
  expect(names).toEqual(methods.map(({ name }) => name).filter((name) => name !== 'rpc.discover'))
  expect(names.filter((name) => !/^\w+$/.test(name))).toEqual([])
})

describe('what generators of code need', () => {
  /** Every schema of the document with those in it. */
  function* schemasIn(schema: Schema): Generator<Schema> {
    yield schema
    const { properties = {}, items, anyOf = [] } = schema
    for (const inner of [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])])
      yield* schemasIn(inner)
  }
  const schemas = document.methods.flatMap(({ params, result }) =>
    [...params, result].flatMap(({ schema }) => [...schemasIn(schema)]),
  )

  test('every schema has a title, which is no method, and schemas of one title take the same values', () => {
    const held = new Map<string, string>()
    for (const { title = '', ...schema } of schemas) {
      const content = JSON.stringify(schema, (key, value) =>
        key === 'title' || (key === 'description' && typeof value === 'string') ? undefined : value,
      )
      expect([title, title]).toEqual([expect.stringMatching(/^[A-Z][A-Za-z0-9]*$/), title])
      expect([title, content]).toEqual([title, held.get(title) ?? content])
      held.set(title, content)
    }
    const ofMethods = new Set(document.methods.map(({ name }) => pascalCase(name)))
    expect([...held.keys()].filter((title) => ofMethods.has(title))).toEqual([])
    for (const title of ['Validator', 'Proposal', 'TransactionResult', 'AddressInput'])
      expect([...held.keys()]).toContain(title)
  })

  test('a type is one, and an enumeration has one', () => {
    expect(schemas.filter(({ type }) => Array.isArray(type))).toEqual([])
    expect(schemas.filter(({ enum: values, type }) => values !== undefined && type === undefined)).toEqual([])
  })

  test('no optional param comes before a required one, and an example gives the first params', () => {
    for (const { name, params, examples } of document.methods) {
      const required = params.map((param) => param.required)
      expect([name, required]).toEqual([name, [...required].sort((a, b) => Number(b) - Number(a))])
      const given = examples[0]?.params.map((param) => param.name) ?? []
      expect([name, given]).toEqual([name, params.slice(0, given.length).map((param) => param.name)])
    }
  })

  test('a title that another schema has gets the name of what it stands in before it', () => {
    const titled = createTitler(['Taken'])
    const [text, whole] = [{ type: 'string' }, { type: 'integer' }]
    expect(titled(text, 'some_name', 'First')).toEqual({ title: 'SomeName', type: 'string' })
    expect(titled({ ...text, description: 'of people' }, 'some_name', 'Second')).toMatchObject({ title: 'SomeName' })
    expect(titled(whole, 'some_name', 'Second')).toEqual({ title: 'SecondSomeName', type: 'integer' })
    expect(titled({ type: 'boolean' }, 'some_name', 'Second')).toEqual({ title: 'SecondSomeName2', type: 'boolean' })
    expect(titled({ enum: ['a'] }, 'taken', 'Third')).toEqual({ title: 'ThirdTaken', type: 'string', enum: ['a'] })
  })
})

test('a tag marks the methods that sign and those of a websocket, and the first tag of each names its group', () => {
  const tagged = (tag: string): readonly string[] =>
    document.methods.filter(({ tags }) => tags.some((one) => one.name === tag)).map(({ name }) => name)
  expect(tagged('signs')).toEqual(methods.filter(({ signs }) => signs === true).map(({ name }) => name))
  expect(tagged('signs')).toContain('svc_vote')
  expect(tagged('websocket')).toEqual(['svc_subscribe', 'svc_unsubscribe'])
  // What each of them answers over POST.
  const withoutSocket = document.methods.filter(({ errors }) => errors.some(({ code }) => code === -32601))
  expect(withoutSocket.map(({ name }) => name)).toEqual(expect.arrayContaining([...tagged('websocket')]))
  const groups = document.methods.map(({ tags: [first] }) => first?.name)
  expect([...new Set(groups)]).toEqual(methodGroups.map(({ name }) => name))
})

const described = document.methods.map((method) => [method.name, method] as const)

test.each(described)(
  '%s: params as they are read, schemas that compile, its errors',
  (name, { paramStructure, params, result, errors }) => {
    const method = methods.find((one) => one.name === name)
    const listed = params.map((param) => [param.name, param.required])
    const read = Object.entries(method?.input ?? {}).map(([member, { optional }]) => [member, !optional])
    // By name the order is that of the example.
    expect(paramStructure === 'either' ? listed : listed.sort()).toEqual(
      paramStructure === 'either' ? read : read.sort(),
    )
    for (const { schema } of [...params, result]) expect(ajv.compile(schema)).toBeInstanceOf(Function)
    expect(errors.map(({ code }) => code)).toContain(-32602)
  },
)

test.each(described)(
  '%s: an example whose params are read and whose result fits its schema',
  (name, { result, examples: [example] }) => {
    const method = methods.find((one) => one.name === name)
    if (example === undefined)
      throw new Error(`${name} has no example in src/gateway/rpc/examples.json: run \`npm run examples\``)
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
