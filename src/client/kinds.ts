import { ONE } from '../base/amount.ts'
import {
  address,
  amount,
  type Member,
  type Members,
  nested,
  optional,
  proposalId,
  ratio,
  ruledText,
  uint,
  yesNo,
} from '../tx/members.ts'
import type { MemberSpec } from './types.ts'

/**
 * The reader of each kind of member; tools/client/surface.ts names them. What a value means is the chain's to judge.
 */
const READERS: Readonly<Record<string, () => Member<unknown>>> = {
  text: () => ruledText(''),
  address,
  base64: proposalId,
  uint: () => uint(''),
  amount: () => amount(''),
  ratio: () => ratio(0n, ONE, ''),
  yesNo: () => yesNo(''),
} as const satisfies Readonly<Record<string, () => unknown>> as never

function memberOf({ kind, doc = '', optional: isOptional, members }: MemberSpec): Member<unknown> {
  const read = members === undefined ? READERS[kind]?.() : (nested(membersOf(members), doc) as Member<unknown>)
  if (read === undefined) throw new Error(`no reader for members of kind ${kind}`)
  const member = { ...read, doc }
  return isOptional === true ? optional(member) : member
}

/** The members that the gateway would read from the same JSON. */
export const membersOf = (members: Readonly<Record<string, MemberSpec>>): Members =>
  Object.fromEntries(Object.entries(members).map(([name, spec]) => [name, memberOf(spec)]))
