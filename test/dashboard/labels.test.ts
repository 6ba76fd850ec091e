import { textOf } from './fakeDom.ts'
import { expect, test } from '@jest/globals'
import { h } from 'preact'
import { setLabel } from '../../src/dashboard/data/labels.ts'
import { Fields } from '../../src/dashboard/parts/Message.tsx'
import { txEntries } from '../../src/modules/registry.ts'
import { address } from '../../src/values/address.ts'

const ALICE = `0x${'a1'.repeat(20)}`

test('the label of an address stands beside it in every field of an operation', () => {
  setLabel(ALICE, 'my friend')
  const fields = txEntries.flatMap(({ operation, input }) =>
    Object.entries(input).flatMap(([name, { valueType }]) => (valueType === address ? [{ operation, name }] : [])),
  )
  expect(fields).toContainEqual({ operation: 'transfer', name: 'to' })
  const isLabelled = ({ operation, name }: (typeof fields)[number]): boolean =>
    textOf(h(Fields, { operation, message: { [name]: ALICE } })).includes('my friend')
  expect(fields.filter((field) => !isLabelled(field))).toEqual([])
})
