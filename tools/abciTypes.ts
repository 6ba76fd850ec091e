/**
 * The TypeScript types of ABCI's requests and responses, made from proto/abci: each message that has a comment becomes
 * an interface with that comment as its docstring, and any other message is written in its place.
 */

interface JsonField {
  readonly type: string
  readonly id: number
  readonly rule?: string
  readonly options?: { readonly proto3_optional?: boolean }
}

/** A namespace, message or enum, as protobufjs prints it. */
export interface JsonNode {
  readonly fields?: Readonly<Record<string, JsonField>>
  readonly oneofs?: Readonly<Record<string, { readonly oneof: readonly string[] }>>
  readonly values?: Readonly<Record<string, number>>
  readonly nested?: Readonly<Record<string, JsonNode>>
  readonly comment?: string | null
}

type Messages = Readonly<Record<string, JsonNode>>

const SCALARS: ReadonlyMap<string, string> = new Map([
  ...['int32', 'uint32', 'int64', 'uint64'].map((type): [string, string] => [type, 'number']),
  ['bool', 'boolean'],
  ['string', 'string'],
  ['bytes', 'Uint8Array'],
])

/** `RequestInfo` as `InfoRequest`; other names as they are. */
const typeName = (message: string): string => message.replace(/^(Request|Response)(.+)$/, '$2$1')

const fieldsOf = (messages: Messages, name: string): readonly [string, JsonField][] =>
  Object.entries(messages[name]?.fields ?? {})

/** The names of the messages that a message of `name` may hold, and `name` itself. */
function withParts(messages: Messages, name: string, found: Set<string> = new Set()): ReadonlySet<string> {
  if (messages[name] === undefined || found.has(name)) return found
  found.add(name)
  for (const [, { type }] of fieldsOf(messages, name)) withParts(messages, type, found)
  return found
}

/** The source of a module with one interface for each documented message, and `AbciCalls`, which lists all requests. */
export function abciTypes(messages: Messages): string {
  const inRequests = withParts(messages, 'Request')

  const typeOf = ({ type, rule }: JsonField): string => {
    const one = SCALARS.get(type) ?? (messages[type]?.comment ? typeName(type) : `{ ${membersOf(type).join('; ')} }`)
    return rule === 'repeated' ? `readonly ${one}[]` : one
  }
  const membersOf = (name: string): readonly string[] => {
    const oneOf = new Set(Object.values(messages[name]?.oneofs ?? {}).flatMap(({ oneof }) => oneof))
    return fieldsOf(messages, name).map(([member, field]) => {
      const isOptional = !inRequests.has(name) || oneOf.has(member) || field.options?.proto3_optional === true
      return `${member}${isOptional ? '?' : ''}: ${typeOf(field)}`
    })
  }

  const interfaces = Object.entries(messages).flatMap(([name, { comment }]) => {
    if (!comment) return []
    const doc = comment.split('\n').map((line) => ` * ${line}\n`)
    const members = membersOf(name).map((member) => `  ${member}\n`)
    return `/**\n${doc.join('')} */\nexport interface ${typeName(name)} {\n${members.join('')}}\n`
  })
  const responses = messages['Response']?.fields ?? {}
  const calls = fieldsOf(messages, 'Request').map(
    ([kind, { type }]) => `  ${kind}: [${typeName(type)}, ${typeName(responses[kind]?.type ?? '')}]\n`,
  )
  return [
    '/* Written by tools/abciTypes.ts: change proto/abci, not this file. */\n',
    ...interfaces,
    '/**\n * The request and the response of every kind, by the name of its handler.',
    " * @example type Verdict = AbciCalls['checkTx'][1]\n */",
    `export interface AbciCalls {\n${calls.join('')}}\n`,
  ].join('\n')
}
