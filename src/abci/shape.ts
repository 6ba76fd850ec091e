import { descriptor } from '../codec/gen/abci.descriptor.js'
import { abci } from '../codec/gen/abci.js'
import type { FieldDescriptor, StaticMessage } from '../codec/static.ts'

type Check = (value: unknown, where: string) => unknown

/** One message type: its generated code, and what protobufjs does not do for it. */
export interface Shape {
  readonly message: StaticMessage
  /** A plain object with every member, from a decoded one. */
  read(decoded: object): object
  /**
   * Throws a TypeError where `value` holds what protobufjs would write wrongly in silence: a BigInt, an unsafe integer,
   * a wrong type.
   */
  check(value: object): void
}

interface Member {
  readonly name: string
  readonly where: string
  readonly repeated: boolean
  /** Reads a message; undefined for everything else, which stays as it was decoded. */
  readonly read: ((value: unknown) => object) | undefined
  readonly check: Check
  /** What stands for an absent message; undefined where it may be absent. */
  readonly empty: (() => object) | undefined
}

const shapes = new Map<string, Shape>()

function refuse(where: string, expected: string, value: unknown): never {
  const got = typeof value === 'object' && value !== null ? 'an object' : `${typeof value} ${String(value)}`
  throw new TypeError(`${where}: expected ${expected}, got ${got}`)
}

function integer(min: number, max: number): Check {
  return (value, where) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? value
      : refuse(where, `an integer from ${min} to ${max}`, value)
}

const SCALARS: Readonly<Record<string, Check>> = {
  int64: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  uint64: integer(0, Number.MAX_SAFE_INTEGER),
  int32: integer(-(2 ** 31), 2 ** 31 - 1),
  uint32: integer(0, 2 ** 32 - 1),
  bool: (value, where) => (typeof value === 'boolean' ? value : refuse(where, 'a boolean', value)),
  string: (value, where) => (typeof value === 'string' ? value : refuse(where, 'a string', value)),
  bytes: (value, where) => (value instanceof Uint8Array ? value : refuse(where, 'bytes', value)),
}

function memberOf(message: string, field: FieldDescriptor): Member {
  const { name, repeated } = field
  const where = `${message}.${name}`
  const scalar = SCALARS[field.type]
  if (scalar !== undefined) return { name, where, repeated, read: undefined, check: scalar, empty: undefined }
  const shape = shapeOf(field.type)
  return {
    name,
    where,
    repeated,
    read: (value) => shape.read(value as object),
    check: (value, at) =>
      typeof value === 'object' && value !== null ? shape.check(value) : refuse(at, 'a message', value),
    empty: field.optional ? undefined : () => shape.read(shape.message.decode(new Uint8Array(0))),
  }
}

function makeShape(name: string): Shape {
  const members = (descriptor[`abci.${name}`]?.fields ?? []).map((field) => memberOf(name, field))
  return {
    message: abci[name] as StaticMessage,
    read: (decoded) => {
      const source = decoded as Record<string, unknown>
      const plain: Record<string, unknown> = {}
      for (const { name: member, repeated, read, empty } of members) {
        const value = source[member] // through the prototype: the proto3 default of an absent member, null of an absent message
        if (value === null || value === undefined) {
          if (empty !== undefined) plain[member] = empty()
        } else if (read === undefined) plain[member] = value
        else plain[member] = repeated ? (value as unknown[]).map(read) : read(value)
      }
      return plain
    },
    check: (value) => {
      const source = value as Record<string, unknown>
      for (const { name: member, where, repeated, check } of members) {
        const given = source[member]
        if (given === undefined) continue
        if (!repeated) check(given, where)
        else if (!Array.isArray(given)) refuse(where, 'an array', given)
        else for (const item of given) check(item, where)
      }
    },
  }
}

/** The shape of a message of proto/abci by its name; made once. */
export function shapeOf(name: string): Shape {
  const found = shapes.get(name)
  if (found !== undefined) return found
  const made = makeShape(name)
  shapes.set(name, made)
  return made
}
