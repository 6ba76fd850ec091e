/** A proposer may put any message into a block, and what it says must not keep the page from showing the others. */
import { drawn, textOf } from './fakeDom.ts'
import { expect, test } from '@jest/globals'
import { h } from 'preact'
import { formatValue } from '../../src/dashboard/data/parameters.ts'
import { operationWords } from '../../src/dashboard/operations/index.ts'
import { Fields } from '../../src/dashboard/parts/Message.tsx'
import { Sentence, sentenceText } from '../../src/dashboard/parts/Words.tsx'
import type { Fields as InputFields } from '../../src/tx/fields.ts'
import { txEntries } from '../../src/modules/registry.ts'

const DIGITS = '9'.repeat(16_000)

/** A message whose fields all hold the same text. */
const filled = (fields: InputFields, text: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.fields === undefined ? text : filled(field.fields, text),
    ]),
  )

test.each([
  ['a name that every object has', 'constructor'],
  ['a word', 'abc'],
  ['nothing', ''],
  ['a number below 0', '-1'],
  ['a digit more than an amount may have', '1'.repeat(61)],
  ['thousands of digits', DIGITS],
  ['a number beyond the calendar', '9000000000000000'],
])('%s in every field of any operation is shown', (_, text) => {
  for (const { operation, input } of txEntries) {
    const message = filled(input, text)
    const words = operationWords(operation, message)
    expect(sentenceText(words)).not.toBe('')
    expect(textOf(h(Sentence, { words }))).not.toBe('')
    expect(textOf(h(Fields, { operation, message }))).not.toBe('')
  }
})

test('an answer that is none stands as it is', () => {
  const words = operationWords('vote', { proposalId: 'A', answer: 'toString' })
  expect(sentenceText(words)).toBe('Vote toString on A')
  expect(textOf(h(Fields, { operation: 'vote', message: { answer: 'toString' } }))).toBe('AnswertoString')
})

test.each([
  ['5000000000000000000', '5 token'],
  ['abc', 'abc'],
  ['9'.repeat(61), '9'.repeat(61)],
])('the amount %s is shown as %s', (amount, shown) => {
  expect(textOf(h(Fields, { operation: 'delegate', message: { amount } }))).toBe(`Amount${shown}`)
  expect(textOf(h(Sentence, { words: [{ kind: 'tokens', value: amount }] }))).toBe(shown)
})

test('a commission that is none stands as it is', () => {
  const of = (compRate: string): string => textOf(h(Fields, { operation: 'updateCandidacy', message: { compRate } }))
  expect(of('0.5')).toBe('Commission50 % (0.5)')
  expect(of('abc')).toBe('Commissionabc')
})

test('digits are grouped up to as many as an amount has', () => {
  expect(formatValue('1500000000')).toBe('1,500,000,000')
  expect(formatValue(DIGITS)).toBe(DIGITS)
})

test('a description without members, which an update gives all the same, is not taken for nothing', () => {
  const of = (message: object): string => textOf(h(Fields, { operation: 'updateCandidacy', message: { ...message } }))
  expect(of({ description: {} })).toBe('DescriptionGiven, without members.')
  expect(of({})).toBe('This operation takes no fields.')
})

test('what cannot be seen in a name stands by its code also where only a screen reader finds it', async () => {
  const name = '\u202Eecila'
  // In a narrow window a link lies over each row, which is called like it.
  Object.assign(globalThis, { matchMedia: () => Object.assign(new EventTarget(), { matches: true }) })
  const { Table } = await import('../../src/dashboard/parts/Table.tsx')
  const columns = [{ title: 'Name', value: () => name, cell: () => '', corner: 'name' as const }]
  const table = h(Table, { label: '', columns, rows: [1], keyOf: () => 1, linkOf: () => '#/' })
  expect(textOf(table)).toBe('Name[U+202E]ecila1 rowCSV')
  const { announced } = await import('../../src/dashboard/wallet/providers.ts')
  announced.set([{ id: '1', name, provider: { request: async () => undefined } }])
  const { ConnectWallet } = await import('../../src/dashboard/wallet/ConnectWallet.tsx')
  const { labels, end } = drawn(h(ConnectWallet, {}))
  expect(labels()).toEqual(['Connect [U+202E]ecila'])
  end()
})
