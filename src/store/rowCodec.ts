import { asBuffer } from '../base/bytes.ts'
import { codecsOf } from '../codec/message.ts'
import { $protobuf, Reader, type StaticMessage } from '../codec/protobuf.ts'
import type { ColumnType, WireValue } from '../values/column.ts'

/** Encodes and decodes the rows of one table as the bytes that are hashed. A row must have one encoding only. */
export interface RowCodec {
  /** A name for errors: the full name of the protobuf message, where there is one. */
  readonly name: string
  encode(row: Readonly<Record<string, WireValue>>): Uint8Array
  decode(bytes: Uint8Array): Readonly<Record<string, WireValue>>
}

type WireType = ColumnType<unknown>['wireType']

/** The wire type of protobuf that a member of each type has: 0 for a varint, 2 for bytes behind their length. */
const VARINT = 0
const LENGTH_PREFIXED = 2
const WIRE: Readonly<Record<WireType, number>> = {
  uint64: VARINT,
  bool: VARINT,
  string: LENGTH_PREFIXED,
  bytes: LENGTH_PREFIXED,
}

const DEFAULTS: Readonly<Record<WireType, WireValue>> = { uint64: 0, bool: false, string: '', bytes: new Uint8Array(0) }

const isDefault = (value: unknown): boolean => !value || (value as Uint8Array).length === 0

/**
 * The codec of a table's rows as proto3 writes them: the columns have the field numbers 1, 2, 3 … in the order in which
 * they are declared. `encode` throws a TypeError for a value that is not of its column's wire type.
 */
export function rowCodec(table: string, columns: Readonly<Record<string, ColumnType<unknown>>>): RowCodec {
  const fields = Object.entries(columns).map(([name, { wireType }], index) => ({ name, id: index + 1, type: wireType }))
  const tags = fields.map((field) => ({ ...field, tag: field.id * 8 + WIRE[field.type] }))
  const byTag = new Map(tags.map((field) => [field.tag, field]))
  const defaults = Object.fromEntries(fields.map(({ name, type }) => [name, DEFAULTS[type]]))

  const message: StaticMessage = {
    encode: (row, writer = $protobuf.Writer.create()) => {
      for (const { name, type, tag } of tags) {
        const value = (row as Readonly<Record<string, unknown>>)[name]
        if (!isDefault(value)) writer.uint32(tag)[type](value as never)
      }
      return writer
    },
    decode: (bytes) => {
      const reader = new Reader(asBuffer(bytes as Uint8Array))
      const row: Record<string, unknown> = { ...defaults }
      while (reader.pos < reader.len) {
        const field = byTag.get(reader.uint32())
        if (field === undefined) throw new Error(`a row of ${table} holds a field that the table has no column for`)
        row[field.name] = reader[field.type]()
      }
      return row
    },
  }
  const name = `rows.${table}`
  return codecsOf({ [table]: message }, { [name]: { fields } })(name)
}
