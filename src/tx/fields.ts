import { cut, isObject, show, UNKNOWN_NAME_LENGTH_MAX } from '../base/json.ts'
import type { TypedField } from './typedData.ts'
import type { WireValue } from '../values/column.ts'
import type { InputLimits, InputType, JsonSchema, ValueType } from '../values/valueType.ts'

/** Thrown for what no message can hold; the gateway answers -32602. It names the field, its form and what was given. */
export class FieldError extends Error {
  /** The field's name, `outer.inner` for a field inside another. */
  readonly field: string
  /** The message without the field's name. */
  readonly problem: string
  constructor(field: string, form: string, given: unknown) {
    const problem = given === undefined ? `this member is required: ${form}` : `expected ${form}, got ${show(given)}`
    super(`${field}: ${problem}`)
    this.name = 'FieldError'
    this.field = field
    this.problem = problem
  }
}

/**
 * One field of an input: a value of a type, or an object with fields of its own. `Wire` is what the message holds, `Value`
 * what it means.
 */
export interface Field<Wire, Value = Wire> {
  /** Name of the value's type; `object` where it has fields of its own. */
  readonly type: string
  /** TypeScript type of what a caller may give. */
  readonly inputType: string
  readonly schema: JsonSchema
  readonly limits?: InputLimits | undefined
  /** How a wallet shows its value; a struct where it has fields of its own. */
  readonly typedDataType: TypedField['type']
  /** What the docs say of it. */
  readonly doc: string
  readonly optional: boolean
  readonly fields?: Fields
  /** The type of the value, where it is one that the chain holds. */
  readonly valueType?: ValueType<Value> | undefined
  /** What the message holds. Throws a FieldError for what no message can hold. */
  read(json: unknown, path: string): Wire
  print(wire: Wire): unknown
  /** Check 5 of protocol.md §2: why the value is refused, or undefined. */
  check(wire: Wire, path: string): string | undefined
  /** What the message means. Run `check` first. */
  decode(wire: Wire): Value
}

/** A field that may be left out. */
export interface OptionalField<Wire, Value = Wire> extends Field<Wire, Value> {
  readonly optional: true
}

/** The fields of an input, by their JSON names, in order. */
export type Fields = Readonly<Record<string, Field<unknown, unknown>>>

type WireOf<F> = F extends Field<infer Wire, unknown> ? Wire : never
type ValueOf<F> = F extends Field<unknown, infer Value> ? Value : never

/** The name of a field that may be left out, and of one that may not; never for the other. */
type IfOptional<F, Name> = F extends OptionalField<unknown, unknown> ? Name : never
type IfRequired<F, Name> = F extends OptionalField<unknown, unknown> ? never : Name

/** The message that a set of fields makes. */
export type MessageOf<F extends Fields> = {
  readonly [N in keyof F as IfRequired<F[N], N>]: WireOf<F[N]>
} & {
  readonly [N in keyof F as IfOptional<F[N], N>]?: WireOf<F[N]>
}

/** What a message of a set of fields means. */
export type ValuesOf<F extends Fields> = {
  readonly [N in keyof F as IfRequired<F[N], N>]: ValueOf<F[N]>
} & {
  readonly [N in keyof F as IfOptional<F[N], N>]?: ValueOf<F[N]>
}

const isValueType = <T, Wire extends WireValue>(type: InputType<Wire>): type is ValueType<T, Wire> => 'fromWire' in type

/** A field with a value of `type`. */
export function field<T, Wire extends WireValue>(type: ValueType<T, Wire>, doc?: string): Field<Wire, T>
/** A field with a value that no row holds: the message means what it holds. */
export function field<Wire extends WireValue>(type: InputType<Wire>, doc?: string): Field<Wire, Wire>
export function field<Wire extends WireValue>(type: InputType<Wire>, doc = type.doc): Field<Wire, unknown> {
  const valueType = isValueType<unknown, Wire>(type) ? type : undefined
  return {
    valueType,
    decode: (wire) => (valueType === undefined ? wire : valueType.fromWire(wire)),
    type: type.name,
    typedDataType: type.typedDataType ?? 'string',
    inputType: type.inputType,
    schema: type.inputSchema,
    limits: type.limits,
    doc,
    optional: false,
    read: (json, path) =>
      type.fromJson(json, (form) => {
        throw new FieldError(path, form, json)
      }),
    print: (wire) => type.wireToJson(wire),
    check: (wire, path) => {
      const wrong = type.check(wire)
      return wrong === undefined ? undefined : `${path}: expected ${wrong.expected}, got ${wrong.got}`
    },
  }
}

/** A field with fields of its own. */
export function nested<F extends Fields>(fields: F, doc: string): Field<MessageOf<F>, ValuesOf<F>> {
  return {
    type: 'object',
    typedDataType: 'struct',
    inputType: 'object',
    schema: schemaOf(fields),
    doc,
    optional: false,
    fields,
    read: (json, path) => readFields(fields, json, path),
    print: (wire) => printFields(fields, wire),
    check: (wire, path) => checkFields(fields, wire, path),
    decode: (wire) => decodeFields(fields, wire),
  }
}

/** The same field, but it may be left out. JSON null is left out too (protocol.md §1, Given). */
export function optional<Wire, Value>(one: Field<Wire, Value>): OptionalField<Wire, Value> {
  return { ...one, optional: true }
}

const each = (fields: Fields): readonly (readonly [string, Field<unknown>])[] => Object.entries(fields)
/** The names of fields, in order. */
export const fieldNames = (fields: Fields): readonly string[] => each(fields).map(([name]) => name)

const pathOf = (within: string, name: string): string => (within === '' ? name : `${within}.${name}`)

/** The message in a JSON object. Throws a FieldError for a field that is missing, unknown or not of its form. */
export function readFields<F extends Fields>(fields: F, input: unknown, within = ''): MessageOf<F> {
  if (!isObject(input)) throw new FieldError(within === '' ? 'params' : within, 'an object of members', input)
  for (const name of Object.keys(input)) {
    if (Object.hasOwn(fields, name)) continue
    const known = Object.keys(fields).join(', ') || 'no members'
    throw new FieldError(pathOf(within, cut(name, UNKNOWN_NAME_LENGTH_MAX)), `one of ${known}`, input[name])
  }
  const message: Record<string, unknown> = {}
  for (const [name, one] of each(fields)) {
    const json = Object.hasOwn(input, name) ? input[name] : undefined
    if (json !== undefined && json !== null) message[name] = one.read(json, pathOf(within, name))
    else if (!one.optional) throw new FieldError(pathOf(within, name), one.doc, undefined)
  }
  return message as MessageOf<F>
}

/** A message as JSON, the way its fields are read. */
export function printFields<F extends Fields>(fields: F, message: MessageOf<F>): Record<string, unknown> {
  const wire: Readonly<Record<string, unknown>> = message
  const given = each(fields).filter(([name]) => wire[name] !== undefined)
  return Object.fromEntries(given.map(([name, one]) => [name, one.print(wire[name])]))
}

/** Check 5 of every field in order: why the first bad one is refused, or undefined. Source: protocol.md §2. */
export function checkFields<F extends Fields>(fields: F, message: MessageOf<F>, within = ''): string | undefined {
  const wire: Readonly<Record<string, unknown>> = message
  for (const [name, one] of each(fields)) {
    const value = wire[name]
    const why = value === undefined ? undefined : one.check(value, pathOf(within, name))
    if (why !== undefined) return why
  }
  return undefined
}

/** What a message means: each field that it has, decoded. Run `checkFields` first. */
export function decodeFields<F extends Fields>(fields: F, message: MessageOf<F>): ValuesOf<F> {
  const wire: Readonly<Record<string, unknown>> = message
  const values: Record<string, unknown> = {}
  for (const [name, one] of each(fields)) if (wire[name] !== undefined) values[name] = one.decode(wire[name])
  return values as ValuesOf<F>
}

/** Fields as the typed data of an operation has them. */
export const typedFieldsOf = (fields: Fields): readonly TypedField[] =>
  each(fields).map(([name, { typedDataType: type, fields: inner }]) => ({
    name,
    type,
    ...(inner !== undefined && { fields: typedFieldsOf(inner) }),
  }))

/** The JSON Schema of an input object. */
export function schemaOf(fields: Fields): JsonSchema {
  const required = each(fields)
    .filter(([, { optional: isOptional }]) => !isOptional)
    .map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      each(fields).map(([name, { schema, doc }]) => [name, { ...schema, description: doc }]),
    ),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}
