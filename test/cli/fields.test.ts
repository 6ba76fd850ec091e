import { expect, test } from '@jest/globals'
import { fieldsFromFlags, parseFields } from '../../src/cli/options.ts'
import { field, optional } from '../../src/tx/fields.ts'
import { integerOf } from '../../src/values/number.ts'

const fields = { limit: optional(field(integerOf(1, 100))) }

test('an option whose field is an integer is given as text, as every option is', () => {
  expect(parseFields(fields, fieldsFromFlags(fields, { limit: '20' }))).toEqual({ limit: 20 })
  expect(() => parseFields(fields, fieldsFromFlags(fields, { limit: '2.5' }))).toThrow('--limit: expected an integer')
})
