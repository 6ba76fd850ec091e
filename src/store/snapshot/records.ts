import { compareBytes, concat, equalBytes } from '../../base/bytes.ts'
import type { StateReader } from '../state.ts'
import type { Table } from '../table.ts'
import { varint } from './format.ts'

/**
 * The tables under the app hash, in the order of their tags: then the records are in the byte order of their state
 * keys.
 */
export const hashedTables = (tables: readonly Table[]): readonly Table[] =>
  tables.filter(({ hashed }) => hashed).sort((a, b) => a.tag - b.tag)

/** Every hashed row as one record, in order: length of the state key, state key, length of the value, value. */
export function* recordsOf(state: StateReader, tables: readonly Table[]): Generator<Uint8Array> {
  for (const table of hashedTables(tables)) {
    for (const row of state.scan(table)) {
      const key = table.keyOf(row)
      const value = table.encode(row)
      yield concat(varint(key.length), key, varint(value.length), value)
    }
  }
}

/** One row as a snapshot tells of it. */
export interface Record {
  readonly table: Table
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly row: object
}

/** Why a snapshot holds no state: its bytes are as its metadata says, and no node wrote them. */
export class NotARecord extends Error {
  override readonly name = 'NotARecord'
}

/** Most bytes of a state key or value: more than any row of ours has. */
const PART_BYTES_MAX = 1024 * 1024

/** A length and the bytes of it that start at `at`; undefined when they are not all there yet. */
function partAt(bytes: Uint8Array, at: number): { readonly part: Uint8Array; readonly next: number } | undefined {
  let length = 0
  for (let place = at, unit = 1; place < bytes.length; place++, unit *= 0x80) {
    const byte = bytes[place] as number
    length += (byte & 0x7f) * unit
    if (length > PART_BYTES_MAX || unit > PART_BYTES_MAX) throw new NotARecord('a length is out of bounds')
    if (byte > 0x7f) continue
    if (byte === 0 && place > at) throw new NotARecord('a length is not in its shortest form')
    const next = place + 1 + length
    return next > bytes.length ? undefined : { part: bytes.subarray(place + 1, next), next }
  }
  return undefined
}

function readRow(table: Table, key: Uint8Array, value: Uint8Array): object | undefined {
  try {
    const parsed = table.parseKey(key)
    const row = parsed === undefined ? undefined : table.decode(parsed as never, value)
    if (row === undefined || table.isDefault(row)) return undefined
    return equalBytes(table.keyOf(row), key) && equalBytes(table.encode(row), value) ? row : undefined
  } catch {
    return undefined
  }
}

/** Reads records from the bytes of chunks, wherever these are cut. */
export interface RecordReader {
  /** The records that are whole with these bytes. Throws NotARecord. */
  read(chunk: Uint8Array): Generator<Record>
  /** True when nothing is left over. */
  isAtEnd(): boolean
}

/**
 * A reader of records of `tables`. Each is a row of a hashed table that encodes to the same bytes, in the strict order
 * of state keys; anything else is a NotARecord. Holds at most one record beside the chunk.
 */
export function makeRecordReader(tables: readonly Table[]): RecordReader {
  const byTag = new Map(hashedTables(tables).map((table) => [table.tag, table]))
  let rest: Uint8Array = new Uint8Array(0)
  let last: Uint8Array = new Uint8Array(0)

  const recordOf = (key: Uint8Array, value: Uint8Array): Record => {
    const table = byTag.get(key[0] ?? -1)
    const row = table === undefined ? undefined : readRow(table, key, value)
    if (table === undefined || row === undefined) throw new NotARecord('a record is no row of this program’s tables')
    if (compareBytes(key, last) <= 0) throw new NotARecord('its records are not in order')
    last = key.slice()
    return { table, key: last, value, row }
  }

  return {
    *read(chunk) {
      const bytes = concat(rest, chunk)
      let at = 0
      for (;;) {
        const key = partAt(bytes, at)
        const value = key === undefined ? undefined : partAt(bytes, key.next)
        if (key === undefined || value === undefined) break
        at = value.next
        yield recordOf(key.part, value.part)
      }
      rest = bytes.slice(at)
    },
    isAtEnd: () => rest.length === 0,
  }
}
