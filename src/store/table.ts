import { concat } from '../base/bytes.ts'
import type { ColumnType, KeyColumnType, WireValue } from '../values/column.ts'
import { type RowCodec, rowCodec } from './rowCodec.ts'
import type { StateReader } from './state.ts'

type Columns = Readonly<Record<string, ColumnType<unknown>>>
type KeyColumns = Readonly<Record<string, KeyColumnType<unknown>>>

/** A row's key as maps hold it: the value of the only key column, or the text of all of them. Equal keys have equal map keys. */
export type MapKey = string | number

/** The row type of a set of columns. */
export type ValuesOf<C extends Columns> = { readonly [N in keyof C]: C[N] extends ColumnType<infer T> ? T : never }

/**
 * Returns the index key of a row, or undefined for a row that is not in the index. Rows with the same index key are
 * sorted by their state key.
 */
export type IndexOf<Row> = { keyOf(row: Row): Uint8Array | undefined }['keyOf']

/**
 * One kind of thing that the application keeps, declared with `table`. The SQL tables, the reads and writes, the bytes hashed
 * and the snapshots are derived from it.
 *
 * The functions are methods, and so is `IndexOf`: TypeScript then accepts a table of its own rows where any Table is
 * asked for.
 */
export interface Table<Key extends object = object, Row extends Key = Key, Index extends string = string> {
  /** The name of the SQL table. */
  readonly name: string
  /** The first byte of every state key. */
  readonly tag: number
  /** False for a table of the node's own: it is in SQL only, never under the app hash. */
  readonly hashed: boolean
  /** The name of the row's codec; '' when there is none. */
  readonly messageName: string
  readonly key: KeyColumns
  readonly row: Columns
  readonly indexes: Readonly<Record<Index, IndexOf<Row>>>
  /** The state key: the tag and the bytes of each key column. */
  keyOf(key: Key): Uint8Array
  /** The key of maps in memory, which costs much less than the state key. Throws for a number that has no key bytes. */
  mapKey(key: Key): MapKey
  /** The key columns of a state key; undefined when it is not a key of this table. */
  parseKey(key: Uint8Array): Key | undefined
  /** The bytes that are hashed as a row's value: all columns but the key's. */
  encode(row: Row): Uint8Array
  /** The row of a key and its hashed bytes. */
  decode(key: Key, value: Uint8Array): Row
  /** True when two rows of the same key hold the same values. */
  isEqual(a: Row, b: Row): boolean
  /** True when all columns but the key's are default: such a row does not exist. */
  isDefault(row: Row): boolean
  /** Only for a table of `derivedTable`. */
  readonly derived?: Derivation<Key, Row>
}

/** How the rows of a derived table follow from those of other tables. */
export interface Derivation<Key extends object = object, Row extends Key = Key> {
  /** The row of a key, computed from the rows of `state`. */
  derive(state: StateReader, key: Key): Row
  /** How many entries a row holds: what bounds the memory of all of them (derivedRows.ts). */
  sizeOf(row: Row): number
}

/** The row type of a table. */
export type RowOf<T> = T extends Table<infer _K, infer Row> ? Row : never

/** How a table of the node's own encodes and decodes its rows: it does not. */
function refusing(name: string): { readonly encode: () => never; readonly decode: () => never } {
  const refuse = (): never => {
    throw new Error(`store: table ${name} is the node's own and has no bytes`)
  }
  return { encode: refuse, decode: refuse }
}

/** The declaration of a table. */
export interface TableSpec<K, R, Row, Index extends string> {
  /** The first byte of every state key, 0 to 255. Each table has its own, and a retired one is never used again. */
  readonly tag: number
  /** False for a table of the node's own, which is never under the app hash. */
  readonly hashed?: boolean
  /** The columns of the key, in the order in which they sort. A table without any has one row. */
  readonly key: K
  /** The other columns. Add new ones at the end: their order gives the field numbers of the default codec. */
  readonly row: R
  /** The bytes of a row. By default those of proto3, with the field numbers 1, 2, 3 … in the order of `row`. */
  readonly message?: RowCodec
  /** Other orders to scan rows in, by their name. */
  readonly indexes?: Readonly<Record<Index, IndexOf<Row>>>
}

const fieldOf = (row: object, column: string): unknown => (row as Readonly<Record<string, unknown>>)[column]

// NaN is not among them: encoding its row refuses it.
const isDefaultValue = (value: unknown): boolean => value === 0 || value === 0n || value === '' || value === false

/** The value of a key column as part of a map key. A number that has no key bytes throws, as it does in `keyOf`. */
function mapValueOf(key: object, column: string): MapKey {
  const value = fieldOf(key, column) as MapKey
  if (typeof value === 'number' && !(Number.isSafeInteger(value) && value >= 0))
    throw new RangeError(`a key holds ${value}`)
  return value
}

function mapKeyOf(columns: readonly string[]): (key: object) => MapKey {
  const [only] = columns
  if (only === undefined) return () => ''
  if (columns.length === 1) return (key) => mapValueOf(key, only)
  // No value of a key column holds a zero byte.
  return (key) => columns.map((column) => mapValueOf(key, column)).join('\0')
}

function assertDeclared(name: string, tag: number): void {
  if (!/^[a-z][a-z0-9_]*$/.test(name))
    throw new TypeError(`table ${JSON.stringify(name)}: a name has lower-case letters, digits and _`)
  if (!(Number.isInteger(tag) && tag >= 0 && tag <= 0xff))
    throw new RangeError(`table ${name}: a tag is 0 to 255, got ${tag}`)
}

/**
 * Declares a table. In SQL its columns have the same names in snake_case. A row of default values only does not exist.
 * Throws for a name that is not of lower-case letters, digits and _, and for a tag that is not 0 to 255.
 *
 * @example
 * const balances = table('balances', {
 *   tag: 1,
 *   key: { owner: text },
 *   row: { amount: bigUint, nonce: uint },
 *   indexes: { byNonce: ({ nonce }) => uint.toKey(nonce) },
 * })
 */
export function table<const K extends KeyColumns, const R extends Columns, const Index extends string = never>(
  name: string,
  spec: TableSpec<K, R, ValuesOf<K> & ValuesOf<R>, Index>,
): Table<ValuesOf<K>, ValuesOf<K> & ValuesOf<R>, Index> {
  type Key = ValuesOf<K>
  type Row = ValuesOf<K> & ValuesOf<R>
  const keyColumns = Object.entries<KeyColumnType<unknown>>(spec.key)
  const rowColumns = Object.entries<ColumnType<unknown>>(spec.row)
  assertDeclared(name, spec.tag)
  const tag = Uint8Array.of(spec.tag)
  const hashed = spec.hashed ?? true
  const message = spec.message ?? (hashed ? rowCodec(name, spec.row) : { name: '', ...refusing(name) })
  return {
    name,
    tag: spec.tag,
    hashed,
    messageName: message.name,
    key: spec.key,
    row: spec.row,
    indexes: spec.indexes ?? ({} as Readonly<Record<Index, IndexOf<Row>>>),
    keyOf: (key) => concat(tag, ...keyColumns.map(([column, type]) => type.toKey(fieldOf(key, column)))),
    mapKey: mapKeyOf(keyColumns.map(([column]) => column)),
    isEqual: (a, b) => rowColumns.every(([column]) => fieldOf(a, column) === fieldOf(b, column)),
    parseKey: (bytes) => {
      if (bytes[0] !== spec.tag) return undefined
      const key: Record<string, unknown> = {}
      let offset = 1
      for (const [column, type] of keyColumns) {
        const read = type.fromKey(bytes, offset)
        if (read === undefined) return undefined
        key[column] = read.value
        offset = read.next
      }
      return offset === bytes.length ? (key as Key) : undefined
    },
    encode: (row) => {
      const wire: Record<string, WireValue> = {}
      for (const [column, type] of rowColumns) wire[column] = type.toWire(fieldOf(row, column))
      return message.encode(wire)
    },
    decode: (key, value) => {
      const wire = message.decode(value)
      const row: Record<string, unknown> = { ...key }
      for (const [column, type] of rowColumns) row[column] = type.fromWire(wire[column] as WireValue)
      return row as Row
    },
    isDefault: (row) => rowColumns.every(([column]) => isDefaultValue(fieldOf(row, column))),
  }
}

/**
 * Declares rows that are kept in memory alone, because other rows say the same: a sum, or a group of rows as one value.
 * A store gives the row of any key: what the last commit left in memory, else what `derive` computes. Overlays hold, keep
 * and drop these rows like all others. Whoever writes what they follow from writes them too, in the same overlay. They
 * can be read by key only. After `remove` an overlay has no row, until it is committed or dropped.
 *
 * @example
 * const supply = derivedTable('supply', {
 *   tag: 0xf0,
 *   key: {},
 *   derive: (state) => ({ total: [...state.scan(balances)].reduce((sum, { amount }) => sum + amount, 0n) }),
 *   sizeOf: () => 1,
 * })
 */
export function derivedTable<const K extends KeyColumns, V extends object>(
  name: string,
  { tag, key, ...derived }: { readonly tag: number; readonly key: K } & Derivation<ValuesOf<K>, ValuesOf<K> & V>,
): Table<ValuesOf<K>, ValuesOf<K> & V, never> {
  return {
    ...table(name, { tag, hashed: false, key, row: {} }),
    ...refusing(name),
    indexes: {},
    isEqual: (a, b) => a === b,
    isDefault: () => false,
    derived,
  }
}
