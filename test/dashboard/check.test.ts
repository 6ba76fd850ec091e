import { describe, expect, test } from '@jest/globals'
import { type FormField, forms, type OperationName } from '../../src/client/gen/forms.ts'
import {
  inputOf,
  leavesOf,
  pointNamesOf,
  problemOf,
  problemsOf,
  problemsOfPoint,
} from '../../src/dashboard/forms/check.ts'
import { AMOUNT_MAX } from '../../src/base/amount.ts'
import { PARAMETERS } from '../../src/modules/params/definitions.ts'
import { txEntries } from '../../src/modules/registry.ts'

const fieldOf = (operation: OperationName, name: string): FormField => {
  const found = leavesOf(forms[operation].fields).find(([path]) => path === name)
  if (found === undefined) throw new Error(`${operation} has no ${name}`)
  return found[1]
}
const ADDRESS = `0x${'ab'.repeat(20)}`
const KEY = Buffer.alloc(32, 7).toString('base64')

test('every operation of the registry has a form with its fields', () => {
  expect(Object.keys(forms)).toEqual(txEntries.map(({ operation }) => operation))
  for (const { operation, input } of txEntries)
    expect(forms[operation as OperationName].fields.map(({ name }) => name)).toEqual(Object.keys(input))
})

describe('a field', () => {
  test('that is too long says by how much, in bytes and not in characters', () => {
    const name = fieldOf('declareCandidacy', 'description.name')
    expect(problemOf(name, 'a'.repeat(128))).toBeUndefined()
    expect(problemOf(name, `${'a'.repeat(125)}äää`)).toBe('131 of at most 128 bytes: 3 too many')
  })

  test('that is needed may not be empty, and one that is optional may', () => {
    expect(problemOf(fieldOf('transfer', 'to'), '')).toBe('This is needed.')
    expect(problemOf(fieldOf('declareCandidacy', 'maxAmount'), '')).toBeUndefined()
  })

  test.each([
    ['transfer', 'to', ADDRESS, '0x12', 'expected an address (0x and 40 hex digits)'],
    ['transfer', 'value', '1.5', '0', 'expected more than 0'],
    [
      'transfer',
      'value',
      '0.000000000000000001',
      '0.0000000000000000001',
      'expected a number of tokens with at most 18 decimals, such as 1.5',
    ],
    ['declareCandidacy', 'maxAmount', '0', '1e3', 'expected a number of tokens with at most 18 decimals, such as 1.5'],
    ['declareCandidacy', 'pubKey', KEY, 'AAAA', 'expected 32 bytes'],
    ['declareCandidacy', 'compRate', '0.5', '1.1', 'expected decimal text of 0 to 1 with at most 18 decimals'],
    ['acceptCandidacyAccountUpdate', 'accountUpdateRequestId', '1', '-1', 'expected a whole number from 0'],
    ['vote', 'answer', 'Y', 'yes', 'expected one of Y, N'],
    ['proposeDeployLibEni', 'name', 'a_b-1', 'A', 'expected name: [a-z0-9_-], at most 64'],
    ['proposeDeployLibEni', 'version', 'v1.0.0', 'v1.0', 'expected version, vX.Y.Z'],
  ] as const)('%s.%s takes %s and not %s', (operation, name, good, bad, why) => {
    const field = fieldOf(operation, name)
    expect(problemOf(field, good)).toBeUndefined()
    expect(problemOf(field, bad)).toBe(why)
  })

  test('takes the largest amount and nothing above', () => {
    const field = fieldOf('transfer', 'value')
    const tokens = AMOUNT_MAX / 10n ** 18n
    expect(problemOf(field, String(tokens))).toBeUndefined()
    expect(problemOf(field, String(tokens + 1n))).toMatch(/^expected decimal text of 0 to 10{36}$/)
  })
})

test.each([...PARAMETERS.keys()])('the value of %s is judged as a proposal of it is', (name) => {
  const { fields } = forms.proposeChangeParam
  const type = PARAMETERS.get(name)
  expect(problemsOf(fields, { name, value: type?.fallback ?? '' })).toEqual({})
  expect(Object.keys(problemsOf(fields, { name, value: 'x' }))).toEqual(['value'])
})

test('a proposal may not set unstake_wait_period as low as genesis may', () => {
  const { fields } = forms.proposeChangeParam
  expect(problemsOf(fields, { name: 'unstake_wait_period', value: '999' })).toEqual({
    value: 'expected an integer of 1000 to 1000000000',
  })
})

describe('when a proposal ends', () => {
  const names = pointNamesOf(['reason', 'expireBlockHeight', 'expireTimestamp'])
  const newest = { height: 99, timeMs: 1_000_999 }
  const problems = (typing: object) => (names === undefined ? undefined : problemsOfPoint(names, { ...typing }, newest))

  test.each([{}, { expireBlockHeight: '101' }, { expireBlockHeight: '1000100' }, { expireTimestamp: '10001000' }])(
    'may be %j',
    (typing) => {
      expect(problems(typing)).toEqual({})
    },
  )

  test.each(['100', '99', '0', '1000101'])('may not be block %s, whose own block is 100', (expireBlockHeight) => {
    expect(problems({ expireBlockHeight })).toEqual({ expireBlockHeight: 'expected a block from 101 to 1,000,100' })
  })

  test.each(['1000', '999', '10001001'])('may not be the time %s', (expireTimestamp) => {
    expect(problems({ expireTimestamp })).toEqual({
      expireTimestamp:
        'expected a time after the newest block, 1970-01-01 00:16:40 UTC, and before 1970-04-26 18:03:20 UTC',
    })
  })

  test('is a block or a time, not both', () => {
    const both = { expireBlockHeight: '500', expireTimestamp: '5000' }
    expect(problems(both)).toEqual({ expireBlockHeight: 'give a block or a time, not both' })
  })
})

test('what was typed becomes an input: amounts in base units, empty fields left out, text as it is', () => {
  const typing = {
    pubKey: ` ${KEY} `,
    'description.name': ' a name ',
    'description.website': '',
    maxAmount: '1000.5',
    compRate: '',
  }
  expect(inputOf(forms.declareCandidacy.fields, typing)).toEqual({
    pubKey: KEY,
    description: { name: ' a name ' },
    maxAmount: '1000500000000000000000',
  })
  expect(inputOf(forms.updateCandidacy.fields, {})).toEqual({})
})
