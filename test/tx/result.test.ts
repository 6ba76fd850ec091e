import { expect, test } from '@jest/globals'
import type { JsonSchema } from '../../src/values/valueType.ts'
import { checkTxSchema, deliverTxSchema, sentResultSchema, transactionResultSchema } from '../../src/tx/result.ts'

test('of a result only the fee is always there: a verdict may leave code, log and gas out', () => {
  expect(checkTxSchema).toMatchObject({ required: ['fee'], additionalProperties: false })
  expect(deliverTxSchema()).toMatchObject({ required: ['fee'], additionalProperties: false })
})

test('a fee that nobody paid is an empty object', () => {
  for (const { properties } of [checkTxSchema, deliverTxSchema()] as { properties: { fee: object } }[]) {
    expect(properties.fee).toMatchObject({ type: 'object', required: [], additionalProperties: false })
    expect(properties.fee).toHaveProperty('properties.key', { type: 'string' })
  }
})

test('data is base64, and its description says what it carries', () => {
  const dataOf = (schema: JsonSchema): unknown => (schema['properties'] as Record<string, unknown>)['data']
  const plain = { type: 'string', contentEncoding: 'base64' }
  expect(dataOf(deliverTxSchema())).toStrictEqual(plain)
  expect(dataOf(deliverTxSchema('an id'))).toStrictEqual({ ...plain, description: 'an id' })
})

test('what only `wait: false` answers may be absent from a result', () => {
  const required = ['height', 'hash', 'check_tx', 'deliver_tx']
  expect(transactionResultSchema()).toMatchObject({ required })
  expect(sentResultSchema).toMatchObject({
    required,
    properties: { height: { type: 'integer' }, known: { enum: [true] } },
  })
})
