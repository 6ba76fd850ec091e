import type { Writer } from 'protobufjs'
import { equalBytes } from '../base/bytes.ts'
import { integer, refuse, SCALARS } from './scalar.ts'
import { $protobuf } from './setup.ts'
import type { Descriptor, FieldDescriptor, StaticMessage, StaticRoot } from './static.ts'

/**
 * Encodes and decodes one message type. `T` is a plain object: absent optional members are undefined, all others hold a
 * value.
 */
export interface Codec<T> {
  /**
   * The only bytes we write for `value`. Throws a TypeError on a value no wire type can hold (an unsafe integer, a
   * wrong type).
   */
  encode(value: T): Uint8Array
  /** Reads any spelling of a message. Throws on bytes that are not one. */
  decode(bytes: Uint8Array): T
  /**
   * Reads only what `encode` would have written; undefined for every other spelling: unknown members, defaults spelt
   * out, overlong varints, members out of order, trailing bytes, integers above 2^53 − 1. Source: protocol.md §2.
   */
  decodeCanonical(bytes: Uint8Array): T | undefined
}

interface Field {
  readonly name: string
  /** Where it stands, for messages of errors. */
  readonly where: string
  readonly repeated: boolean
  readonly optional: boolean
  readonly fallback: () => unknown
  readonly check: (value: unknown, where: string) => void
  readonly read: (value: unknown, where: string, strict: boolean) => unknown
}

type Fields = readonly Field[]
type Plain = Readonly<Record<string, unknown>>

/**
 * Throws a TypeError where `value` holds what no wire type can. protobufjs then writes its members, and looks at no
 * other.
 */
function checkAll(fields: Fields, value: Plain): void {
  for (const { name, where, repeated, optional, check } of fields) {
    const given = value[name]
    if (given === undefined) {
      if (!optional && !repeated) refuse(where, 'a value', given)
    } else if (!repeated) check(given, where)
    else for (const item of given as readonly unknown[]) check(item, where)
  }
}

/** protobufjs keeps unknown members here, and would write them again. */
const UNKNOWN = '$unknowns'

/**
 * The members that protobufjs read. Members that the message does not declare are left behind, or with `strict`
 * refused.
 */
function copyOut(fields: Fields, value: Plain, strict: boolean): object {
  if (strict && Object.hasOwn(value, UNKNOWN)) throw new TypeError(UNKNOWN)
  const target: Record<string, unknown> = {}
  for (const { name, where, repeated, optional, fallback, read } of fields) {
    const given = value[name] // through the prototype: the proto3 default of an absent member, null of an absent optional one
    if (repeated) target[name] = ((given as unknown[] | undefined) ?? []).map((item) => read(item, where, strict))
    else if (given !== undefined && given !== null) target[name] = read(given, where, strict)
    else if (!optional) target[name] = fallback()
  }
  return target
}

/** The full name of a member's type, looked for from its own message outwards, as .proto files mean it. */
function resolve(descriptor: Descriptor, type: string, from: string): string {
  for (let scope = from; scope !== ''; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.')))) {
    if (descriptor[`${scope}.${type}`] !== undefined) return `${scope}.${type}`
  }
  if (descriptor[type] !== undefined) return type
  throw new Error(`${from}: no ${type}`)
}

// Written and read before the next message is: one buffer serves all.
const writer = $protobuf.Writer.create()

/** The message in the shared writer. */
function encodeWith(message: StaticMessage, value: object): Writer {
  do
    writer.reset() // out of one message after the other, where a throw left it within some
  while (writer.pos > 0)
  return message.encode(value, writer)
}

function codecOf(fields: Fields, message: StaticMessage): Codec<object> {
  return {
    encode: (value) => {
      checkAll(fields, value as Plain)
      return encodeWith(message, value).finish()
    },
    decode: (bytes) => copyOut(fields, message.decode(bytes), false),
    decodeCanonical: (bytes) => {
      try {
        const decoded = message.decode(bytes)
        const value = copyOut(fields, decoded, true)
        return equalBytes(encodeWith(message, decoded).finish(true), bytes) ? value : undefined
      } catch (error) {
        // Out of stack or memory says nothing of the bytes.
        if (error instanceof RangeError && /call stack|memory/i.test(error.message)) throw error
        return undefined
      }
    },
  }
}

/** The codecs of one generated package folder, made once each. */
export function codecsOf(root: StaticRoot, descriptor: Descriptor): <T>(name: string) => Codec<T> {
  const made = new Map<string, { readonly fields: Field[]; readonly codec: Codec<object> }>()

  const fieldOf = (message: string, { name, type, repeated, optional }: FieldDescriptor): Field => {
    const scalar = SCALARS.get(type)
    const where = `${message}.${name}`
    const common = { name, where, repeated }
    if (scalar !== undefined)
      return { ...common, optional, fallback: scalar.fallback, check: scalar.convert, read: scalar.convert }
    const full = resolve(descriptor, type, message)
    if (descriptor[full]?.values !== undefined) {
      const convert = integer(-(2 ** 31), 2 ** 31 - 1)
      return { ...common, optional, fallback: () => 0, check: convert, read: convert }
    }
    return {
      ...common,
      optional: true,
      fallback: () => undefined,
      check: (value, at) =>
        typeof value === 'object' && value !== null
          ? checkAll(need(full).fields, value as Plain)
          : refuse(at, 'a message', value),
      read: (value, _at, strict) => copyOut(need(full).fields, value as Plain, strict),
    }
  }

  const need = (name: string): { readonly fields: Fields; readonly codec: Codec<object> } => {
    const found = made.get(name)
    if (found !== undefined) return found
    const declared = descriptor[name]?.fields
    if (declared === undefined) throw new Error(`no message ${name}`)
    const [, ...path] = name.split('.')
    const message = path.reduce<StaticRoot | StaticMessage>(
      (node, part) => (node as StaticRoot)[part] as StaticRoot,
      root,
    )
    const fields: Field[] = []
    const entry = { fields, codec: codecOf(fields, message as StaticMessage) }
    made.set(name, entry) // before its members: a message may hold itself
    for (const one of declared) fields.push(fieldOf(name, one))
    return entry
  }

  return <T>(name: string) => need(name).codec as unknown as Codec<T>
}
