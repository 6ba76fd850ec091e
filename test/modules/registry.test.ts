import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { CatalogueError } from '../../src/base/txError.ts'
import { descriptor } from '../../src/codec/gen/svc.descriptor.js'
import { OPERATION_MESSAGES } from '../../src/codec/svc.ts'
import { eventEntries, queryEntries, tables, txEntries } from '../../src/modules/registry.ts'
import type { Table } from '../../src/store/table.ts'
import type { Fields } from '../../src/tx/fields.ts'
import { listedTxErrors } from '../../tools/reference/errors.ts'

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

  /** What the files of this name in src/modules and its folders export. */
  const exportsOf = async (name: string): Promise<readonly object[]> => {
    const modules = join(import.meta.dirname, '../../src/modules')
    const files = globSync(`{,*/}${name}.ts`, { cwd: modules })
    return (await Promise.all(files.map((file) => import(join(modules, file))))).flatMap(Object.values)
  }

  test('every error that a module declares is in the reference', async () => {
    const declared = (await exportsOf('errors'))
      .flatMap((catalogue) => Object.values(catalogue))
      .map((error) => (typeof error === 'function' ? error('…', '…') : error) as CatalogueError)
      .filter(({ source }) => source !== undefined)
    const said = ({ code, log }: CatalogueError): string => `${code} ${log}`
    expect([...new Set(declared.map(said))].sort()).toEqual(listedTxErrors().map(said).sort())
  })

  test('every event that a module declares is registered', async () => {
    const exported = await exportsOf('events')
    const declared = [exported, ...exported.map(Object.values)].flat().filter((one) => 'attributes' in Object(one))
    expect(declared.filter((event) => !eventEntries.includes(event))).toEqual([])
    expect(declared.length).toBeGreaterThan(3)
  })

  test('methods and events are named as the interface and the protocol name them', () => {
    for (const { method, event } of txEntries) {
      expect(method).toMatch(/^svc_[a-zA-Z]+$/)
      expect(event.type).toMatch(/^svc\.(?:accounts|stake|governance)\.[a-zA-Z]+$/)
    }
  })
})
