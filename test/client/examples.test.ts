import { expect, test } from '@jest/globals'
import { compileExamples, exampleOf, exportsOf } from '../support/publicApi.ts'

const INDEX = 'src/client/index.ts'
/** The generated types are left out. */
const exported = exportsOf(INDEX)

test.each(exported)('the docstring of $name has an example', (one) => {
  expect(exampleOf(one)).toMatch(/\w/)
})

test('the examples of all exports agree with their types', () => {
  const given =
    'declare const svc: Svc\n' +
    'declare const from: string, to: string, owner: string, hash: string, newCandidateAccount: string'
  expect(compileExamples(INDEX, given, exported)).toEqual([0, ''])
})
