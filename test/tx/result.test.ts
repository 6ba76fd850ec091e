import { expect, test } from '@jest/globals'
import { checkTxSchema, deliverTxSchema } from '../../src/tx/result.ts'

test('of a result only the fee is always there: a verdict may leave code, log and gas out', () => {
  expect(checkTxSchema).toMatchObject({ required: ['fee'], additionalProperties: false })
  expect(deliverTxSchema()).toMatchObject({ required: ['fee'], additionalProperties: false })
})
