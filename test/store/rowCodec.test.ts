import { expect, test } from '@jest/globals'
import { descriptor } from '../../src/codec/gen/state.descriptor.js'
import type { Descriptor } from '../../src/codec/protobuf.ts'
import { tables } from '../../src/modules/registry.ts'
import { rowCodec } from '../../src/store/rowCodec.ts'
import { table, type Table } from '../../src/store/table.ts'
import { bigUint, bool, hexOf, text, uint, type WireValue } from '../../src/values/column.ts'
import { ROWS } from '../vectors/cases.ts'

const names = table('names', {
  tag: 1,
  key: { name: text },
  row: { owner: hexOf(2), price: bigUint, until: uint, isLocked: bool, note: text },
})
const row = { name: 'a', owner: '0aff', price: 7n, until: 300, isLocked: true, note: 'é' }

test('the bytes of a row are those of proto3, with field numbers in the order of the columns', () => {
  // By hand: each member is its number and wire type, then a length where there is one, then the value.
  const bytes = [
    ...[0x0a, 2, 0x0a, 0xff], // 1, bytes
    ...[0x12, 1, 0x37], // 2, the text 7
    ...[0x18, 0xac, 0x02], // 3, the varint 300
    ...[0x20, 1], // 4, true
    ...[0x2a, 2, 0xc3, 0xa9], // 5, the text é
  ]
  expect([...names.encode(row)]).toEqual(bytes)
  expect(names.decode({ name: 'a' }, Uint8Array.from(bytes))).toEqual(row)
  const bare = { name: 'a', owner: '', price: 0n, until: 0, isLocked: false, note: '' }
  expect(names.encode({ ...bare, until: 1 })).toEqual(Uint8Array.of(0x18, 1))
  expect(names.decode({ name: 'a' }, new Uint8Array(0))).toEqual(bare)
})

test('what the wire type of a column cannot hold is refused, and so is a field without a column', () => {
  const wrong =
    (value: object): (() => unknown) =>
    () =>
      names.encode({ ...row, ...value } as never)
  expect(wrong({ until: -1 })).toThrow(
    new TypeError(`rows.names.until: expected an integer from 0 to ${Number.MAX_SAFE_INTEGER}, got -1`),
  )
  expect(wrong({ until: Number.NaN })).toThrow('rows.names.until')
  expect(wrong({ until: 2 ** 53 })).toThrow('rows.names.until')
  expect(wrong({ until: undefined })).toThrow('rows.names.until: expected a value')
  expect(wrong({ note: 5 })).toThrow('rows.names.note: expected a string')
  for (const price of [undefined, 7, -1n])
    expect(wrong({ price })).toThrow(new TypeError(`expected a bigint from 0 on, got ${price}`))
  expect(wrong({ owner: '0AFF' })).toThrow('expected 2 bytes in lower-case hex')
  expect(() => names.decode({ name: 'a' }, Uint8Array.of(0x30, 1))).toThrow('no column')
})

/** The columns of a table in the order of the numbers that proto/svc/state.proto gives them. */
function columnsOf({ messageName, row: columns }: Table): Table['row'] {
  const fields = [...((descriptor as Descriptor)[messageName]?.fields ?? [])].sort((a, b) => a.id - b.id)
  expect(fields.map(({ id }) => id)).toEqual(fields.map((_, index) => index + 1))
  return Object.fromEntries(fields.map(({ name }) => [name, columns[name] as Table['row'][string]]))
}

test('it writes and reads the rows of every table of the chain as the generated code of protobufjs does', () => {
  expect(new Set(ROWS.map(([one]) => one.name)).size).toBe(tables.filter(({ hashed }) => hashed).length)
  for (const [one, values] of ROWS as readonly (readonly [Table, object])[]) {
    const columns = columnsOf(one)
    const wire = Object.fromEntries(
      Object.entries(columns).map(([name, type]) => [name, type.toWire((values as Record<string, unknown>)[name])]),
    ) as Readonly<Record<string, WireValue>>
    const codec = rowCodec(one.name, columns)
    expect([one.name, Buffer.from(codec.encode(wire)).toString('hex')]).toEqual([
      one.name,
      Buffer.from(one.encode(values)).toString('hex'),
    ])
    expect(Object.entries(codec.decode(one.encode(values)))).toEqual(Object.entries(wire))
  }
})

test('a table is refused that SQL or the state keys could not tell from others', () => {
  const declare = (name: string, tag: number) => () => table(name, { tag, key: {}, row: { count: uint } })
  for (const name of ['', 'Names', 'two words', 'a"b', '1st']) expect(declare(name, 1)).toThrow(TypeError)
  for (const tag of [-1, 256, 1.5, Number.NaN]) expect(declare('names', tag)).toThrow(RangeError)
  expect(declare('names_2', 255)().tag).toBe(255)
})

test('a text with a zero byte is no key', () => {
  expect(() => names.keyOf({ name: 'a\0b' })).toThrow(new RangeError('a key holds a zero byte'))
})
