import { describe, expect, test } from '@jest/globals'
import { descriptor } from '../../src/codec/gen/svc.descriptor.js'
import { OPERATION_MESSAGES } from '../../src/codec/svc.ts'
import { eventEntries, queryEntries, tables, txEntries } from '../../src/modules/registry.ts'
import type { Table } from '../../src/store/table.ts'
import type { Fields } from '../../src/tx/fields.ts'

/** Fields of a message by name: whether it may be absent. A message inside may be always. */
const fieldsOf = (message: string): Record<string, boolean> =>
  Object.fromEntries(
    (descriptor[message]?.fields ?? []).map(({ name, optional, type }) => [name, optional || /^[A-Z]/.test(type)]),
  )
const membersOf = (input: Fields): Record<string, boolean> =>
  Object.fromEntries(Object.entries(input).map(([name, { optional }]) => [name, optional]))

describe('the registry', () => {
  test('every operation of the envelope is registered once, and nothing else is', () => {
    expect(txEntries.map(({ operation }) => operation).sort()).toEqual([...OPERATION_MESSAGES.keys()].sort())
  })

  test.each(txEntries.map((entry) => [entry.operation, entry] as const))(
    '%s: its members are those of its message, optional ones too',
    (_name, entry) => {
      expect(membersOf(entry.input)).toEqual(fieldsOf(OPERATION_MESSAGES.get(entry.operation) as string))
    },
  )

  test.each([
    ['method', txEntries.map(({ method }) => method)],
    ['call', txEntries.map(({ call }) => call)],
    ['event', eventEntries.map(({ type }) => type)],
    ['path', queryEntries.map(({ path }) => path)],
    ['table name', tables.map(({ name }) => name as string)],
    ['table tag', tables.map(({ tag }) => String(tag))],
  ])('no %s stands twice', (_what, values) => {
    expect(new Set(values).size).toBe(values.length)
  })

  test('no table is derived: such a one is in memory alone, and would be an empty one in SQL', () => {
    expect((tables as readonly Table[]).filter(({ derived }) => derived !== undefined)).toEqual([])
  })

  test('methods and events are named as the interface and the protocol name them', () => {
    for (const { method, event } of txEntries) {
      expect(method).toMatch(/^svc_[a-zA-Z]+$/)
      expect(event.type).toMatch(/^svc\.(?:accounts|stake|governance)\.[a-zA-Z]+$/)
    }
  })
})
