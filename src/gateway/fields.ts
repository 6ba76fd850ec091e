import { fromBase64, fromHex, toBase64 } from '../base/bytes.ts'
import { type Member, MemberError, type Members, readMembers } from '../tx/members.ts'
import type { Params } from './envelope.ts'

/** A transaction's hash: 64 hex digits in any letter case, 0x before them or not. Held in upper case. */
export function transactionHash(): Member<string> {
  const form = 'a transaction hash (64 hex digits)'
  return {
    schema: { type: 'string', pattern: '^(?:0x)?[0-9a-fA-F]{64}$' },
    doc: 'transaction hash, 64 hex digits',
    optional: false,
    fromJson: (value, member) => {
      if (typeof value !== 'string' || !/^(?:0x)?[0-9a-fA-F]{64}$/.test(value))
        throw new MemberError(member, form, value)
      return value.slice(-64).toUpperCase()
    },
    toJson: (wire) => wire,
    check: () => undefined,
  }
}

/** Transaction bytes in base64 or 0x-hex. */
export function transactionBytes(): Member<Uint8Array> {
  const form = 'base64 text or 0x-hex text'
  return {
    schema: { type: 'string' },
    doc: 'transaction bytes, base64 or 0x-hex',
    optional: false,
    fromJson: (value, member) => {
      const read =
        typeof value !== 'string' ? undefined : value.startsWith('0x') ? fromHex(value.slice(2)) : fromBase64(value)
      if (read === undefined) throw new MemberError(member, form, value)
      return read
    },
    toJson: toBase64,
    check: () => undefined,
  }
}

/** Which transactions of an account are counted. */
export function countedUpTo(): Member<string> {
  const form = 'latest or pending'
  return {
    schema: { enum: ['latest', 'pending'] },
    doc: 'latest (committed, the default) or pending (those that wait too)',
    optional: false,
    fromJson: (value, member) => {
      if (value !== 'latest' && value !== 'pending') throw new MemberError(member, form, value)
      return value
    },
    toJson: (wire) => wire,
    check: () => undefined,
  }
}

/** A table of the state. */
export function rowTable(names: readonly string[]): Member<string> {
  return {
    schema: { enum: names },
    doc: 'table of the state, as protocol.md §2 lists them',
    optional: false,
    fromJson: (value, member) => {
      if (typeof value !== 'string' || !names.includes(value))
        throw new MemberError(member, `one of ${names.join(', ')}`, value)
      return value
    },
    toJson: (wire) => wire,
    check: () => undefined,
  }
}

const ROW_KEY = '^[A-Za-z0-9_=/-]{0,128}$'

/** The key of a row. What the parts mean is the application's to judge. */
export function rowKey(): Member<string> {
  const form = 'the parts of a key with / between them, at most 128 characters of A-Z a-z 0-9 _ - ='
  return {
    schema: { type: 'string', pattern: ROW_KEY },
    optional: false,
    doc: "parts of the row's key, / between them: addresses, numbers, names, 32 bytes as base64 with the URL-safe alphabet",
    fromJson: (value, member) => {
      if (typeof value !== 'string' || !new RegExp(ROW_KEY).test(value)) throw new MemberError(member, form, value)
      return value
    },
    toJson: (wire) => wire,
    check: () => undefined,
  }
}

/**
 * How the members of a method are given: the first `count` by position or all by name; or in one object, alone or in an
 * array.
 */
export type ParamsForm = { readonly form: 'positional'; readonly count: number } | { readonly form: 'object' }

function named(members: Members, form: ParamsForm, params: Params): unknown {
  if (!Array.isArray(params)) return params ?? {}
  if (form.form === 'object') {
    if (params.length !== 1) throw new MemberError('params', 'one object of members', params)
    return params[0]
  }
  if (params.length > form.count) throw new MemberError('params', `at most ${form.count} by position`, params)
  const names = Object.keys(members)
  return Object.fromEntries(params.map((value, place) => [names[place], value]))
}

/** The members in the params of a call. Throws a MemberError, which is -32602. Source: protocol.md §10. */
export const readParams = (members: Members, form: ParamsForm, params: Params): Readonly<Record<string, unknown>> =>
  readMembers(members, named(members, form, params)) as Readonly<Record<string, unknown>>
