import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { interfaceRows, misfits, tableOf } from './interfaceTables.ts'
import { furtherProofs, proofs } from './rows.ts'

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** True when the file holds a test of exactly this title, and does not skip it. */
const hasTest = (file: string, title: string): boolean =>
  new RegExp(`^ *test(?:\\.each\\(\\w+\\))?\\((['"])${escaped(title)}\\1,`, 'm').test(
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'),
  )

const withoutTest = (list: typeof proofs): readonly string[] =>
  list.flatMap(([key, proof]) =>
    'exception' in proof || hasTest(proof.file, proof.test) ? [] : [`${key}: ${proof.file}: ${proof.test}`],
  )

test('every row of every table and every numbered item of the interface has one proof, and there is no other', () => {
  expect(proofs.map(([key]) => key).sort()).toEqual(
    interfaceRows()
      .map(({ key }) => key)
      .sort(),
  )
})

test('every proof names a test that stands in its file', () => {
  expect(withoutTest([...proofs, ...furtherProofs])).toEqual([])
})

test('a title that is nowhere is found missing, and so is one that is only part of a title', () => {
  const file = 'test/conformance/rows.test.ts'
  expect(hasTest(file, 'every proof names a test that stands in its file')).toBe(true)
  expect(hasTest(file, 'every proof names a test')).toBe(false)
  const list: typeof proofs = [
    ['a row', { file, test: 'no such test' }],
    ['another', { exception: 'none' }],
  ]
  expect(withoutTest(list)).toEqual([`a row: ${file}: no such test`])
})

test('few rows are excepted, each with a reason', () => {
  const excepted = proofs.flatMap(([key, proof]) => ('exception' in proof ? [[key, proof.exception.length > 10]] : []))
  expect(excepted).toEqual([
    ['Authentication · 6', true],
    ['Limits · 7', true],
    ['Versioning · 2', true],
  ])
})

test('the interface has as many rows as it was written with', () => {
  const sizes = [
    'Transaction result object',
    'Validator object',
    'Proposal object',
    'System parameters object',
    'Errors',
  ].map((section) => tableOf(section).length)
  expect(sizes).toEqual([4, 14, 11, 11, 11])
  expect(interfaceRows().length).toBe(99)
})

test('misfits tells a member that is missing, of another type or form, or not in the table', () => {
  const result = { height: 1, hash: 'AB', check_tx: {}, deliver_tx: {} }
  expect(misfits('Transaction result object', result)).toEqual([])
  const { hash, ...without } = result
  expect(misfits('Transaction result object', without)).toEqual(['hash is missing'])
  expect(misfits('Transaction result object', { ...without, hash, extra: 1 })).toEqual(['extra is not in the table'])
  const bad = { ...result, height: '1', check_tx: [] }
  expect(misfits('Transaction result object', bad)).toEqual(['height is no integer', 'check_tx is no object'])
  const params = Object.fromEntries(
    tableOf('System parameters object').map(({ cells: { Field = '', Type = '' } }) => [
      Field,
      Type === 'Number' ? 1 : '0.5',
    ]),
  )
  expect(misfits('System parameters object', params)).toEqual(['hold_account has another form: 0.5'])
})
