import { isObject } from '../base/json.ts'
import { type Members, optional, readMembers, uint } from '../tx/members.ts'
import type { OperationSpec } from './forms.ts'
import { membersOf } from './kinds.ts'

/** What an input says: the message that a transaction holds, and the nonce when the caller gives one. */
export interface Message {
  readonly nonce: number | undefined
  readonly message: Readonly<Record<string, unknown>>
}

/**
 * Reads an operation's input. Throws a MemberError in the words in which the gateway refuses the same input with
 * -32602.
 */
export type Reader = (input: Readonly<Record<string, unknown>>) => Message

const nonce = optional(uint('number of transactions made by the sender before this one'))

// Amounts are read as text, so that a bigint goes the same way here as through JSON.
const plain = (value: unknown): unknown =>
  typeof value === 'bigint'
    ? value.toString()
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
      : value

function readerOf({ members }: OperationSpec): Reader {
  const all: Members = { ...membersOf(members), nonce }
  return ({ from: _from, ...input }) => {
    const { nonce: given, ...message } = readMembers(all, plain(input)) as Readonly<Record<string, unknown>>
    return { nonce: given as number | undefined, message }
  }
}

/** Readers, each made when it is first asked for. */
export function makeReaders(): (spec: OperationSpec) => Reader {
  const made = new Map<string, Reader>()
  return (spec) => {
    const reader = made.get(spec.operation) ?? readerOf(spec)
    made.set(spec.operation, reader)
    return reader
  }
}
