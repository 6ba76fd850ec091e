import { isOutOfStackOrMemory } from '../base/engineErrors.ts'
import type { Writer } from 'protobufjs'
import { equalBytes } from '../base/bytes.ts'
import { show } from '../base/json.ts'
import { $protobuf, type Descriptor, type FieldDescriptor, type StaticMessage, type StaticRoot } from './protobuf.ts'

/** What a value has wrong: the path of the member within it, empty for the value itself, and the reason. */
interface Fault {
  readonly path: string
  readonly reason: string
}

/** Checks one value on its way in or out. */
type Check = (value: unknown) => Fault | undefined
type Plain = Readonly<Record<string, unknown>>

function fault(expected: string, value: unknown, path = ''): Fault {
  const isObject = typeof value === 'object' && value !== null
  // JSON has no BigInt and no NaN.
  const got = typeof value === 'bigint' ? `${value}n` : typeof value === 'number' ? String(value) : show(value)
  return { path, reason: `expected ${expected}, got ${isObject ? 'an object' : got}` }
}

const within = (member: string, { path, reason }: Fault): Fault => ({
  path: path === '' ? member : `${member}.${path}`,
  reason,
})

const only =
  (expected: string, isValid: (value: unknown) => boolean): Check =>
  (value) =>
    isValid(value) ? undefined : fault(expected, value)

// protobufjs would round a larger integer without an error.
const integer = (min: number, max: number): Check =>
  only(
    `an integer from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  )

const INT32 = integer(-(2 ** 31), 2 ** 31 - 1)

/** The scalar types that our messages use, by their .proto names. */
const SCALARS: ReadonlyMap<string, Check> = new Map([
  ['uint64', integer(0, Number.MAX_SAFE_INTEGER)],
  ['int64', integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
  ['uint32', integer(0, 2 ** 32 - 1)],
  ['int32', INT32],
  ['bool', only('a boolean', (value) => typeof value === 'boolean')],
  ['string', only('a string', (value) => typeof value === 'string')],
  ['bytes', only('bytes', (value) => value instanceof Uint8Array)],
])

const checked =
  (check: Check) =>
  (value: unknown, where: string): unknown => {
    const found = check(value)
    if (found !== undefined) throw new TypeError(`${where}: ${found.reason}`)
    return value
  }

interface Member {
  readonly name: string
  /** The full name, for errors. */
  readonly where: string
  readonly repeated: boolean
  /** True where a writer may leave the member out. */
  readonly optional: boolean
  readonly check: Check
  /** The value of a decoded member; undefined where it is the decoded value itself. */
  readonly read: ((decoded: unknown, where: string) => unknown) | undefined
  /** What stands for an absent message; undefined where it stays absent. */
  readonly fallback: (() => unknown) | undefined
}

/** One message type: its generated code, and the checks that protobufjs does not make. */
export interface Shape {
  readonly message: StaticMessage
  /**
   * Throws a TypeError where `value` holds what protobufjs would write wrongly without an error: a BigInt, an unsafe
   * integer, a wrong type. Its message is `prefix`, the path of the member, and what was expected.
   */
  check(value: object, prefix: string): void
  /** What `check` refuses; undefined for a value that can be written. */
  faultOf(value: object): Fault | undefined
  /** A plain object with the members that protobufjs decoded. Members that the message does not declare are left out. */
  read(decoded: object): object
}

function faultOfMember({ name, repeated, check }: Member, given: unknown): Fault | undefined {
  if (!repeated) {
    const found = check(given)
    return found === undefined ? undefined : within(name, found)
  }
  if (!Array.isArray(given)) return fault('an array', given, name)
  for (let index = 0; index < given.length; index += 1) {
    const found = check(given[index])
    if (found !== undefined) return within(`${name}[${index}]`, found)
  }
  return undefined
}

/** Finds a member that is wrong or missing. */
function faultInOpen(value: Plain, members: readonly Member[]): Fault | undefined {
  for (const member of members) {
    const given = value[member.name]
    if (given === undefined) {
      if (!member.optional) return fault('a value', given, member.name)
      continue
    }
    const found = faultOfMember(member, given)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Finds a member that is wrong, or that protobufjs would leave out without an error: one that the message does not
 * declare, such as a misspelt one, and one that `value` inherits, such as a getter of its class.
 */
function faultInClosed(value: Plain, members: ReadonlyMap<string, Member>): Fault | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    for (const name of members.keys()) {
      if (name in value && !Object.hasOwn(value, name))
        return { path: name, reason: 'expected a member of the object itself, got one that it inherits' }
    }
  }
  for (const name in value) {
    const member = members.get(name)
    if (member === undefined)
      return { path: name, reason: `no such member, expected one of ${[...members.keys()].join(', ')}` }
    const given = value[name]
    const found = given === undefined ? undefined : faultOfMember(member, given)
    if (found !== undefined) return found
  }
  return undefined
}

function createShape(message: StaticMessage, members: readonly Member[], isClosed: boolean): Shape {
  let byName: ReadonlyMap<string, Member> | undefined // its members are complete when it is first used
  const faultOf = (value: object): Fault | undefined => {
    if (!isClosed) return faultInOpen(value as Plain, members)
    byName ??= new Map(members.map((member) => [member.name, member]))
    return faultInClosed(value as Plain, byName)
  }

  return {
    message,
    faultOf,
    check: (value, prefix) => {
      const found = faultOf(value)
      if (found !== undefined) throw new TypeError(`${prefix}${found.path}: ${found.reason}`)
    },
    read: (decoded) => {
      const plain: Record<string, unknown> = {}
      for (const { name, where, repeated, read, fallback } of members) {
        // Through the prototype, which holds the default of an absent scalar and null for an absent message.
        const given = (decoded as Plain)[name]
        if (given === undefined || given === null) {
          if (fallback !== undefined) plain[name] = fallback()
        } else if (read === undefined) plain[name] = given
        else if (repeated) plain[name] = (given as readonly unknown[]).map((item) => read(item, where))
        else plain[name] = read(given, where)
      }
      return plain
    },
  }
}

/** The full name of a member's type. As in .proto files, the innermost package that declares the name wins. */
function resolve(descriptor: Descriptor, type: string, from: string): string {
  for (let scope = from; scope !== ''; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.')))) {
    if (descriptor[`${scope}.${type}`] !== undefined) return `${scope}.${type}`
  }
  return type
}

/**
 * The shapes of one generated package, each created on first use. Where presence is `implicit`, a writer may leave out
 * any member but may give no other, and a reader fills in an absent message that is not `optional` with its defaults, as
 * Go does. Otherwise a writer must give every member that is not optional, and an absent message stays absent.
 */
export function shapesOf(
  root: StaticRoot,
  descriptor: Descriptor,
  { implicit }: { readonly implicit: boolean },
): (name: string) => Shape {
  const shapes = new Map<string, Shape>()

  const memberOf = (message: string, { name, type, repeated = false, optional = false }: FieldDescriptor): Member => {
    const where = `${message}.${name}`
    const full = resolve(descriptor, type, message)
    const scalar = SCALARS.get(type) ?? (descriptor[full]?.values === undefined ? undefined : INT32)
    if (scalar !== undefined) {
      const isOptional = implicit || optional || repeated
      // protobufjs decodes every value of its type, and a 64-bit integer that it had to round.
      const read = type.endsWith('64') ? checked(scalar) : undefined
      return { name, where, repeated, optional: isOptional, check: scalar, read, fallback: undefined }
    }
    const shape = shapeOf(full)
    return {
      name,
      where,
      repeated,
      optional: true,
      check: (value) =>
        typeof value === 'object' && value !== null ? shape.faultOf(value) : fault('a message', value),
      read: (value) => shape.read(value as object),
      fallback: implicit && !optional ? () => shape.read(shape.message.decode(new Uint8Array(0))) : undefined,
    }
  }

  const shapeOf = (name: string): Shape => {
    const found = shapes.get(name)
    if (found !== undefined) return found
    const declared = descriptor[name]?.fields
    if (declared === undefined) throw new Error(`no message ${name}`)
    const [, ...path] = name.split('.')
    const message = path.reduce<StaticRoot | StaticMessage>(
      (node, part) => (node as StaticRoot)[part] as StaticRoot,
      root,
    )
    const members: Member[] = []
    const shape = createShape(message as StaticMessage, members, implicit)
    shapes.set(name, shape) // before its members: a message may hold itself
    for (const field of declared) members.push(memberOf(name, field))
    return shape
  }
  return shapeOf
}

/**
 * Encodes and decodes one message type. `T` is a plain object: absent optional members are undefined, all others have a
 * value.
 */
export interface Codec<T> {
  /** Full name of the message. */
  readonly name: string
  /** The only bytes that we write for `value`. Throws a TypeError on a value that the wire type cannot hold. */
  encode(value: T): Uint8Array
  /** Reads any spelling of a message. Throws on bytes that are not one. */
  decode(bytes: Uint8Array): T
  /**
   * Reads only what `encode` would have written. Undefined for every other spelling: unknown members, defaults spelt
   * out, overlong varints, members out of order, trailing bytes, integers above 2^53 − 1. Source: protocol.md §2.
   */
  decodeCanonical(bytes: Uint8Array): T | undefined
}

// Each message is written and read before the next one, so all of them share a buffer.
const writer = $protobuf.Writer.create()

function encodeWith(message: StaticMessage, value: object): Writer {
  do
    writer.reset() // once for each nested message in which a throw may have left the writer
  while (writer.pos > 0)
  return message.encode(value, writer)
}

function createCodec<T extends object>(name: string, { message, check, read }: Shape): Codec<T> {
  return {
    name,
    encode: (value) => {
      check(value, `${name}.`)
      return encodeWith(message, value).finish()
    },
    decode: (bytes) => read(message.decode(bytes)) as T,
    decodeCanonical: (bytes) => {
      try {
        const decoded = message.decode(bytes)
        const value = read(decoded) as T
        // protobufjs dropped what the message does not declare, so it is not written again.
        return equalBytes(encodeWith(message, decoded).finish(true), bytes) ? value : undefined
      } catch (error) {
        if (isOutOfStackOrMemory(error as Error)) throw error
        return undefined
      }
    },
  }
}

/** The codecs of one generated package, by the full names of its messages. */
export function codecsOf(root: StaticRoot, descriptor: Descriptor): <T extends object>(name: string) => Codec<T> {
  const shapeOf = shapesOf(root, descriptor, { implicit: false })
  return (name) => createCodec(name, shapeOf(name))
}
