import { concat } from '../base/bytes.ts'
import type { ValueType as Column, KeyType as KeyColumn, WireValue } from '../values/valueType.ts'

/** The row messages' codec, handed in by the module that owns the table: the store knows no protobuf. */
export interface RowCodec {
  /** Full name of the message. */
  readonly name: string
  encode(row: Readonly<Record<string, WireValue>>): Uint8Array
  decode(bytes: Uint8Array): Readonly<Record<string, WireValue>>
}

// A column of any kind: what it takes in stands for nothing, what it gives out for anything.
type Some<C> = {
  readonly [M in keyof C]: C[M] extends (value: never, ...rest: infer Rest) => infer B
    ? (value: never, ...rest: Rest) => B
    : C[M]
}
type Columns = Readonly<Record<string, Some<Column<unknown>>>>
type KeyColumns = Readonly<Record<string, Some<KeyColumn<unknown>>>>

/** A table's key as maps take it: its only column's value, or the text of all. Equal for equal keys. */
export type MapKey = string | number

/** The values of a set of columns. */
export type ValuesOf<C extends Columns> = { readonly [N in keyof C]: C[N] extends Column<infer T> ? T : never }

/**
 * The index key of a row, or undefined when the row is not in the index. Rows of equal index key sort by their state
 * key.
 */
export type IndexOf<Row> = (row: Row) => Uint8Array | undefined

/** One kind of thing the chain keeps: gives DDL, reads, writes, the bytes hashed, and snapshots. Made by `table`. */
export interface Table<Key extends object = object, Row extends Key = Key, Index extends string = string> {
  /** Name of the SQL table, and in `/store/<table>/<key>`. */
  readonly name: string
  /** First byte of every state key. */
  readonly tag: number
  /** False: a table of the node's own, in SQL only, never under the app hash. */
  readonly hashed: boolean
  /** Full name of the row's protobuf message; '' where there is none. */
  readonly messageName: string
  readonly key: Readonly<Record<string, KeyColumn<unknown>>>
  readonly row: Readonly<Record<string, Column<unknown>>>
  readonly indexes: Readonly<Record<Index, IndexOf<Row>>>
  /** The state key: tag and key parts. */
  readonly keyOf: (key: Key) => Uint8Array
  /** The key in memory: much cheaper than the state key. A number that has no bytes throws. */
  readonly mapKey: (key: Key) => MapKey
  /** The key columns in a state key; undefined when it is not one of this table. */
  readonly parseKey: (key: Uint8Array) => Key | undefined
  /** The bytes hashed as a row's value: what is not in the key. */
  readonly encode: (row: Row) => Uint8Array
  /** The row of a state key and value. */
  readonly decode: (key: Key, value: Uint8Array) => Row
  /** True when two rows of one key hold the same values. */
  readonly isEqual: (a: Row, b: Row) => boolean
  /** True when all but the key is default: such a row does not exist (protocol.md §2). */
  readonly isDefault: (row: Row) => boolean
}

/** The row type of a table. */
export type RowOf<T> = T extends Table<infer _K, infer Row> ? Row : never

const unhashed = (name: string): RowCodec => {
  const refuse = (): never => {
    throw new Error(`store: table ${name} is the node's own and has no bytes`)
  }
  return { name: '', encode: refuse, decode: refuse }
}

interface Spec<K, R, Row, Index extends string> {
  readonly tag: number
  readonly hashed?: boolean
  readonly key: K
  readonly row: R
  /** Of hashed tables. */
  readonly message?: RowCodec
  readonly indexes?: Readonly<Record<Index, IndexOf<Row>>>
}

/** A key column's value in a map; a number that has no bytes throws, as in `keyOf`. */
function inMap(value: unknown): MapKey {
  if (typeof value === 'number' && !(Number.isSafeInteger(value) && value >= 0))
    throw new RangeError(`a key holds ${value}`)
  return value as MapKey
}

function mapKeyOf<Key extends object>(columns: readonly (keyof Key)[]): (key: Key) => MapKey {
  const [only] = columns
  if (only === undefined) return () => ''
  if (columns.length === 1) return (key) => inMap(key[only])
  // No value of a key column holds a zero byte.
  return (key) => columns.map((column) => inMap(key[column])).join('\0')
}

/**
 * Declares a table. Column names are the members of its row message, in SQL in snake_case. Tags and member numbers are
 * never reused: a retired one stays as a comment. Source: proto/svc/state.proto.
 */
export function table<const K extends KeyColumns, const R extends Columns, const Index extends string = never>(
  name: string,
  spec: Spec<K, R, ValuesOf<K> & ValuesOf<R>, Index>,
): Table<ValuesOf<K>, ValuesOf<K> & ValuesOf<R>, Index> {
  type Key = ValuesOf<K>
  type Row = ValuesOf<K> & ValuesOf<R>
  const keyColumns = Object.entries(spec.key) as unknown as readonly (readonly [keyof Key, KeyColumn<unknown>])[]
  const rowColumns = Object.entries(spec.row) as unknown as readonly (readonly [string & keyof Row, Column<unknown>])[]
  const tag = Uint8Array.of(spec.tag)
  const message = spec.message ?? unhashed(name)
  return {
    name,
    tag: spec.tag,
    hashed: spec.hashed ?? true,
    messageName: message.name,
    key: spec.key as never,
    row: spec.row as never,
    indexes: (spec.indexes ?? {}) as Readonly<Record<Index, IndexOf<Row>>>,
    keyOf: (key) => concat(tag, ...keyColumns.map(([column, kind]) => kind.toKey(key[column]))),
    mapKey: mapKeyOf<Key>(keyColumns.map(([column]) => column)),
    isEqual: (a, b) => rowColumns.every(([column]) => a[column] === b[column]),
    parseKey: (bytes) => {
      if (bytes[0] !== spec.tag) return undefined
      const key: Partial<Record<keyof Key, unknown>> = {}
      let at = 1
      for (const [column, kind] of keyColumns) {
        const part = kind.fromKey(bytes, at)
        if (part === undefined) return undefined
        key[column] = part.value
        at = part.next
      }
      return at === bytes.length ? (key as Key) : undefined
    },
    encode: (row) => {
      const wire: Record<string, WireValue> = {}
      for (const [column, kind] of rowColumns) wire[column] = kind.toWire(row[column])
      return message.encode(wire)
    },
    decode: (key, value) => {
      const wire = message.decode(value)
      const row: Record<string, unknown> = { ...key }
      for (const [column, kind] of rowColumns) row[column] = kind.fromWire(wire[column] as WireValue)
      return row as Row
    },
    isDefault: (row) => rowColumns.every(([column, kind]) => kind.isDefault(row[column])),
  }
}
