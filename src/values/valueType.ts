import { show } from '../base/json.ts'
import { type ColumnType, type KeyColumnType, plainColumn, same, type WireValue } from './column.ts'

/** A JSON Schema of one value. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What one value is as JSON. */
export type JsonValue = string | number | boolean

/** What is known of a value before there is a message: forms tell it while somebody types. */
export interface InputLimits {
  /** Most bytes of UTF-8. */
  readonly bytesMax?: number
  /** The only texts that are taken. */
  readonly oneOf?: readonly string[]
  /** A regular expression that the whole text matches. */
  readonly pattern?: string
  /** Zero is refused. */
  readonly isPositive?: true
}

/** A type in EIP-712 typed data. Source: protocol.md §13. */
export type TypedDataType = 'string' | 'address' | 'uint256' | 'uint64'

/** Throws the error of a value that is not of the expected form. */
export type Refuse = (form: string) => never

/**
 * The part of a value type that the fields of a call use. `Wire` is the form of the value in a protobuf message. A
 * message may hold what is no value of the type (an address of 19 bytes): `check` finds that.
 *
 * All functions are methods, so that an InputType<string> may stand where an InputType<unknown> is asked for.
 */
export interface InputType<Wire> {
  /** The name that the generated client knows the type by. */
  readonly name: string
  /** A phrase for the docs, where a field says nothing of its own. */
  readonly doc: string
  /** TypeScript type of what a caller may give. */
  readonly inputType: string
  /** JSON Schema of what a caller may give. */
  readonly inputSchema: JsonSchema
  /** How a wallet shows a value: as text unless given. */
  readonly typedDataType?: TypedDataType
  /** Said here too where the operation itself refuses what is beyond, with a log of its own. */
  readonly limits?: InputLimits
  /** The wire form of what a caller gave. Refuses what no message can hold, and only that. */
  fromJson(json: unknown, refuse: Refuse): Wire
  /** What a message holds, as JSON, even when it is no value of this type. */
  wireToJson(wire: Wire): JsonValue
  /**
   * What was expected and what the message holds instead, both as text; undefined when the value is of this type. Source:
   * protocol.md §2, check 5.
   */
  check(wire: Wire): { readonly expected: string; readonly got: string | number } | undefined
}

/**
 * Everything there is to say about one type of value. Fields of operations, table columns, parameters, the genesis file,
 * the generated client, the proofs of rows, the OpenRPC document and the tables of the docs are derived from it. `T` is
 * the value in the state machine's memory. The value that a protobuf message leaves out is the falsy one: '', 0, 0n or
 * false.
 */
export interface ValueType<T, Wire extends WireValue = WireValue> extends InputType<Wire>, ColumnType<T, Wire> {
  /** What a value is, for errors: `expected <exactForm>, got …`. */
  readonly exactForm: string
  /** JSON Schema of what the chain answers. */
  readonly schema: JsonSchema

  /** A value as the chain answers it. */
  toJson(value: T): JsonValue
  /** The value in canonical text; undefined for any other text. */
  parse(text: string): T | undefined
  /** The value that a row holds. Of a transaction's member, run `check` first. */
  fromWire(wire: Wire): T

  /** The text of a value in a path, where it is another than the canonical one. */
  readonly inPath?: PathText<T> | undefined
}

/** A value as a part of a path. */
export interface PathText<T> {
  /** What a text is, for errors. */
  readonly form: string
  /** The value of a text; undefined for any other text. */
  parse(text: string): T | undefined
  print(value: T): string
}

/** A value that may stand in a state key. */
export interface KeyType<T, Wire extends WireValue = WireValue>
  extends ValueType<T, Wire>,
    Pick<KeyColumnType<T, Wire>, 'isSqlOrdered' | 'toKey' | 'fromKey'> {}

/** A type whose limits the operation itself sets: a message may hold what is beyond, and is refused with a log of its own. */
export const limited = <T extends InputType<string>>(type: T, limits: InputLimits): T => ({ ...type, limits })

/** What a type is where it says nothing else: the same text in memory, in JSON and on the wire. */
export const plainText = {
  ...plainColumn,
  inputType: 'string',
  inputSchema: { type: 'string' },
  schema: { type: 'string' },
  toJson: same,
  wireToJson: same,
  check: () => undefined,
} as const

/** A value that a row holds. Throws where the row holds `given`, which is none. */
export function held<T>(value: T | undefined, exactForm: string, given: unknown): T {
  if (value === undefined) throw new Error(`expected ${exactForm}, got ${show(given)}`)
  return value
}

/** The string that was given, or a refusal. */
export const stringOf = (json: unknown, form: string, refuse: Refuse): string =>
  typeof json === 'string' ? json : refuse(form)
