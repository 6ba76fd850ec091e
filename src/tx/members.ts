import { addressBytes, addressOf, ADDRESS_BYTES, parseAddress } from '../base/address.ts'
import { AMOUNT_MAX, parseAmount, parseRatio, printRatio, type Ratio } from '../base/amount.ts'
import { fromBase64, toBase64, utf8 } from '../base/bytes.ts'
import { cut, isObject, show, UNKNOWN_NAME_LENGTH_MAX } from '../base/json.ts'
import { KEY_BYTES } from '../base/pubKey.ts'

/** A JSON Schema of one member. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * What no message can hold: the gateway answers it with -32602. The message names the member, its form and what was
 * given.
 */
export class MemberError extends Error {
  constructor(member: string, form: string, given: unknown) {
    super(`${member}: expected ${form}, got ${show(given)}`)
    this.name = 'MemberError'
  }
}

/**
 * One kind of input member, said once for the chain, the gateway, the client and the docs.
 * `fromJson` takes what a message can hold and throws a MemberError for the rest; `check` is check 5 of protocol.md §2,
 * and returns why the value is refused, or undefined.
 */
export interface Member<Wire> {
  readonly schema: JsonSchema
  readonly doc: string
  readonly optional: boolean
  fromJson(value: unknown, member: string): Wire
  toJson(wire: Wire): unknown
  check(wire: Wire, member: string): string | undefined
}

/** A member that may be left out. */
export interface OptionalMember<Wire> extends Member<Wire> {
  readonly optional: true
}

/** The members of an input, by their JSON names, in order. */
export type Members = Readonly<Record<string, Member<unknown>>>

/** The message that a set of members makes. */
export type MessageOf<M extends Members> = {
  readonly [N in keyof M as M[N] extends OptionalMember<unknown> ? never : N]: M[N] extends Member<infer W> ? W : never
} & {
  readonly [N in keyof M as M[N] extends OptionalMember<unknown> ? N : never]?: M[N] extends Member<infer W> ? W : never
}

function string(value: unknown, member: string, form: string): string {
  if (typeof value !== 'string') throw new MemberError(member, form, value)
  return value
}

/** The same member, but it may be left out. JSON null is left out too (protocol.md §1, Given). */
export function optional<Wire>(member: Member<Wire>): OptionalMember<Wire> {
  return { ...member, optional: true }
}

/** Text of at most `bytesMax` bytes of UTF-8. Any text is a message's; its length is the chain's to judge. */
export function text(bytesMax: number): Member<string> {
  return {
    schema: { type: 'string' },
    doc: `text, at most ${bytesMax} bytes of UTF-8`,
    optional: false,
    fromJson: (value, member) => {
      const given = string(value, member, 'a string')
      if (!given.isWellFormed()) throw new MemberError(member, 'a string of whole Unicode characters', value)
      return given
    },
    toJson: (wire) => wire,
    check: (wire, member) => {
      const { length } = utf8(wire)
      return length > bytesMax ? `${member}: expected at most ${bytesMax} bytes, got ${length}` : undefined
    },
  }
}

/** Text whose form and length a rule of the operation judges with a log of its own. */
export function ruledText(doc: string): Member<string> {
  return { ...text(Number.MAX_SAFE_INTEGER), doc, check: () => undefined }
}

/** An account address: 0x and 40 hex digits in any letter case. */
export function address(): Member<Uint8Array> {
  const form = 'an address (0x and 40 hex digits)'
  return {
    schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    doc: 'address, 0x and 40 hex digits',
    optional: false,
    fromJson: (value, member) => {
      const parsed = parseAddress(string(value, member, form))
      if (parsed === undefined) throw new MemberError(member, form, value)
      return addressBytes(parsed)
    },
    toJson: (wire) => (wire.length === ADDRESS_BYTES ? addressOf(wire) : toBase64(wire)),
    check: (wire, member) =>
      wire.length === ADDRESS_BYTES ? undefined : `${member}: expected ${ADDRESS_BYTES} bytes, got ${wire.length}`,
  }
}

function base64Of32(doc: string): Member<Uint8Array> {
  const form = 'base64 text'
  return {
    schema: {
      type: 'string',
      contentEncoding: 'base64',
      pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    },
    doc,
    optional: false,
    fromJson: (value, member) => {
      const bytes = fromBase64(string(value, member, form))
      if (bytes === undefined) throw new MemberError(member, form, value)
      return bytes
    },
    toJson: toBase64,
    check: (wire, member) =>
      wire.length === KEY_BYTES ? undefined : `${member}: expected ${KEY_BYTES} bytes, got ${wire.length}`,
  }
}

/** A validator's ed25519 public key in base64. */
export const pubKey = (): Member<Uint8Array> => base64Of32('public key of the validator node, base64 of 32 bytes')

/** A ProposalID in base64. */
export const proposalId = (): Member<Uint8Array> => base64Of32('ProposalID, base64 of 32 bytes')

const DIGITS = /^(?:[0-9]+|0x[0-9a-fA-F]+)$/
/** Most characters of a number in text: enough for what is too large to be refused by its size, not by its form. */
const DIGITS_MAX = 100
const NUMBER_SCHEMA = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: DIGITS.source, maxLength: DIGITS_MAX },
  ],
} as const

/** A nonce, height, timestamp or id: a JSON number, decimal text or 0x-hex text, 0 to 2^53 − 1. */
export function uint(doc: string): Member<number> {
  const form = 'an integer of 0 to 2^53 - 1 (a number, decimal text or 0x-hex text)'
  return {
    schema: NUMBER_SCHEMA,
    doc,
    optional: false,
    fromJson: (value, member) => {
      const given =
        typeof value === 'string' && value.length <= DIGITS_MAX && DIGITS.test(value) ? BigInt(value) : value
      const number = typeof given === 'bigint' && given <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(given) : given
      if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
        throw new MemberError(member, form, value)
      return number
    },
    toJson: (wire) => wire,
    check: () => undefined,
  }
}

/** An amount in base units: decimal text, 0x-hex text or a safe integer. On the wire decimal text. */
export function amount(doc: string): Member<string> {
  const form = 'an amount in base units (decimal text, 0x-hex text or a safe integer)'
  return {
    schema: NUMBER_SCHEMA,
    doc,
    optional: false,
    fromJson: (value, member) => {
      const held =
        typeof value === 'string'
          ? value.length <= DIGITS_MAX && DIGITS.test(value)
          : Number.isSafeInteger(value) && Number(value) >= 0
      if (!held) throw new MemberError(member, form, value)
      return BigInt(value as string | number).toString()
    },
    toJson: (wire) => wire,
    check: (wire, member) =>
      parseAmount(wire) === undefined
        ? `${member}: expected decimal text of 0 to ${AMOUNT_MAX}, got ${show(wire)}`
        : undefined,
  }
}

/** A ratio in decimal text, within a range. */
export function ratio(min: Ratio, max: Ratio, doc: string): Member<string> {
  return {
    schema: { type: 'string' },
    doc,
    optional: false,
    fromJson: (value, member) => string(value, member, 'a ratio as decimal text'),
    toJson: (wire) => wire,
    check: (wire, member) => {
      const value = parseRatio(wire)
      const range = `${printRatio(min)} to ${printRatio(max)}`
      return value === undefined || value < min || value > max
        ? `${member}: expected decimal text of ${range} with at most 18 decimals, got ${show(wire)}`
        : undefined
    },
  }
}

/** Y or N. */
export function yesNo(doc: string): Member<string> {
  return {
    schema: { type: 'string' },
    doc,
    optional: false,
    fromJson: (value, member) => string(value, member, 'Y or N'),
    toJson: (wire) => wire,
    check: (wire, member) =>
      wire === 'Y' || wire === 'N' ? undefined : `${member}: expected Y or N, got ${show(wire)}`,
  }
}

/** Members inside a member. */
export function nested<M extends Members>(members: M, doc: string): Member<MessageOf<M>> {
  return {
    schema: schemaOf(members),
    doc,
    optional: false,
    fromJson: (value, member) => readMembers(members, value, member),
    toJson: (wire) => printMembers(members, wire),
    check: (wire, member) => checkMembers(members, wire, member),
  }
}

const each = (members: Members): readonly (readonly [string, Member<unknown>])[] => Object.entries(members) as never

/**
 * The message in a JSON object. Throws a MemberError for a member that is missing, unknown, or that no message can
 * hold.
 */
export function readMembers<M extends Members>(members: M, input: unknown, within = ''): MessageOf<M> {
  if (!isObject(input)) throw new MemberError(within === '' ? 'params' : within, 'an object of members', input)
  const path = (name: string): string => (within === '' ? name : `${within}.${name}`)
  for (const name of Object.keys(input)) {
    if (Object.hasOwn(members, name)) continue
    const known = Object.keys(members).join(', ') || 'no members'
    throw new MemberError(path(cut(name, UNKNOWN_NAME_LENGTH_MAX)), `one of ${known}`, input[name])
  }
  const message: Record<string, unknown> = {}
  for (const [name, member] of each(members)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (value !== undefined && value !== null) message[name] = member.fromJson(value, path(name))
    else if (!member.optional) throw new MemberError(path(name), member.doc, undefined)
  }
  return message as MessageOf<M>
}

/** A message as JSON, the way its members are read. */
export function printMembers<M extends Members>(members: M, message: MessageOf<M>): Record<string, unknown> {
  const wire = message as Readonly<Record<string, unknown>>
  const given = each(members).filter(([name]) => wire[name] !== undefined)
  return Object.fromEntries(given.map(([name, member]) => [name, member.toJson(wire[name])]))
}

/** Check 5 of every member in order: why the first bad one is refused, or undefined. Source: protocol.md §2. */
export function checkMembers<M extends Members>(members: M, message: MessageOf<M>, within = ''): string | undefined {
  const wire = message as Readonly<Record<string, unknown>>
  for (const name of Object.keys(members)) {
    const value = wire[name]
    if (value === undefined) continue
    const why = (members[name] as Member<unknown>).check(value, within === '' ? name : `${within}.${name}`)
    if (why !== undefined) return why
  }
  return undefined
}

/** The JSON Schema of an input object. */
export function schemaOf(members: Members): JsonSchema {
  const required = each(members)
    .filter(([, member]) => !member.optional)
    .map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      each(members).map(([name, member]) => [name, { ...member.schema, description: member.doc }]),
    ),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}
