import { MemberError, type Members, readMembers } from '../tx/members.ts'
import type { Params } from './envelope.ts'

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
