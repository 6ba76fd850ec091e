import { methods } from '../../src/gateway/methods/list.ts'
import { txEntries } from '../../src/modules/registry.ts'
import type { JsonSchema, Member, Members } from '../../src/tx/members.ts'

/** One member of an operation's input, as the client reads it. */
export interface ClientMember {
  readonly kind: string
  readonly doc: string
  readonly optional?: true
  /** Members inside, of kind `object`. */
  readonly members?: Readonly<Record<string, ClientMember>>
}

/** One transaction type, as a function of the client. */
export interface ClientOperation {
  readonly call: string
  readonly method: string
  readonly operation: string
  readonly doc: string
  readonly members: Readonly<Record<string, ClientMember>>
  readonly returns: string | undefined
}

/** One other method of the gateway, as a function of the client. */
export interface ClientQuery {
  readonly call: string
  readonly method: string
  readonly doc: string
  readonly members: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly doc: string; readonly optional: boolean }>
  >
  /** How many members may be given by position. */
  readonly count: number
  readonly result: JsonSchema
  /** True when it answers with a transaction result object. */
  readonly isTransaction: boolean
}

/**
 * Where the interface puts a query; the others stand at the top, by the method's name. Source: interface, Endpoints.
 */
const QUERY_CALLS: Readonly<Record<string, string>> = {
  svc_queryValidator: 'stake.validator.query',
  svc_queryValidators: 'stake.validator.list',
  svc_queryUnbonding: 'stake.validator.queryUnbonding',
  svc_queryValidatorSet: 'stake.validator.queryValidatorSet',
  svc_queryProposals: 'governance.listProposals',
  svc_queryParams: 'governance.getParams',
  svc_queryProposal: 'governance.queryProposal',
  svc_accounts: 'getAccounts',
  'rpc.discover': 'discover',
}

/** The kind of a member by the form that its error names; the client has a reader for each (src/client/kinds.ts). */
const KINDS: readonly (readonly [form: RegExp, kind: string, type: string])[] = [
  [/^a string$/, 'text', 'string'],
  [/^an address /, 'address', 'string'],
  [/^base64 text$/, 'base64', 'string'],
  [/^an integer of /, 'uint', 'number | string | bigint'],
  [/^an amount /, 'amount', 'string | bigint | number'],
  [/^a ratio /, 'ratio', 'string'],
  [/^Y or N$/, 'yesNo', "'Y' | 'N'"],
  [/^an object of members$/, 'object', ''],
]

/** What a member refuses a value with: `<member>: expected <form>, got …`. */
function refusedForm(member: Member<unknown>, value: unknown, name: string): string {
  try {
    member.fromJson(value, 'm')
  } catch (error) {
    const form = /^m(?:\.\w+)?: expected (.*), got [\s\S]*$/.exec((error as Error).message)?.[1]
    if (form !== undefined) return form
  }
  throw new Error(`gen-client: ${name} does not say what it takes`)
}

function kindOf(form: string, name: string): string {
  const kind = KINDS.find(([pattern]) => pattern.test(form))?.[1]
  if (kind === undefined)
    throw new Error(`gen-client: ${name} is of a new kind (${form}): add it here and to src/client/kinds.ts`)
  return kind
}

/** The members inside one: their schemas tell their names, their errors their kinds. */
function insideOf(member: Member<unknown>, name: string): Readonly<Record<string, ClientMember>> {
  const { properties, required = [] } = member.schema as {
    properties: Readonly<Record<string, JsonSchema>>
    required?: readonly string[]
  }
  return Object.fromEntries(
    Object.entries(properties).map(([inner, { description }]) => {
      const kind = kindOf(refusedForm(member, { [inner]: true }, `${name}.${inner}`), `${name}.${inner}`)
      if (kind === 'object') throw new Error(`gen-client: ${name}.${inner} is nested deeper than the client reads`)
      return [
        inner,
        { kind, doc: String(description), ...(required.includes(inner) ? {} : { optional: true as const }) },
      ]
    }),
  )
}

function membersOf(input: Members): Readonly<Record<string, ClientMember>> {
  return Object.fromEntries(
    Object.entries(input).map(([name, member]) => {
      const kind = kindOf(refusedForm(member, true, name), name)
      return [
        name,
        {
          kind,
          doc: member.doc,
          ...(member.optional ? { optional: true as const } : {}),
          ...(kind === 'object' ? { members: insideOf(member, name) } : {}),
        },
      ]
    }),
  )
}

/** The TypeScript type of a kind of member. */
export const typeOfKind = (kind: string): string => KINDS.find(([, name]) => name === kind)?.[2] as string

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))

/** The TypeScript type of a JSON Schema, as far as the gateway's schemas go. Throws on what it does not know. */
export function typeOfSchema(schema: JsonSchema): string {
  const {
    type,
    anyOf,
    enum: values,
    items,
    properties,
    required,
  } = schema as {
    type?: string | readonly string[]
    anyOf?: readonly JsonSchema[]
    enum?: readonly unknown[]
    items?: JsonSchema
    properties?: Readonly<Record<string, JsonSchema>>
    required?: readonly string[]
  }
  if (values !== undefined) return values.map(literal).join(' | ')
  if (anyOf !== undefined) return anyOf.map(typeOfSchema).join(' | ')
  if (Array.isArray(type)) return type.map((one: string) => typeOfSchema({ type: one })).join(' | ')
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array' && items !== undefined) return `readonly (${typeOfSchema(items)})[]`
  if (type === 'object' && properties === undefined) return 'Readonly<Record<string, unknown>>'
  if (type !== 'object' || properties === undefined)
    throw new Error(`gen-client: a new kind of schema: ${JSON.stringify(schema)}`)
  const members = Object.entries(properties).map(
    ([name, inner]) => `readonly ${name}${required?.includes(name) === true ? '' : '?'}: ${typeOfSchema(inner)}`,
  )
  return `{ ${members.join('; ')} }`
}

/** Every operation of the registry. */
export const clientOperations: readonly ClientOperation[] = txEntries.map(
  ({ call, method, operation, doc, input, returns }) => ({
    call,
    method,
    operation,
    doc,
    members: membersOf(input),
    returns,
  }),
)

const ownMethods = new Set(clientOperations.map(({ method }) => method))

function isTransactionResult(schema: JsonSchema): boolean {
  const names = Object.keys((schema['properties'] ?? {}) as object)
  return names.join() === 'height,hash,check_tx,deliver_tx'
}

/** Every other method of the gateway. */
export const clientQueries: readonly ClientQuery[] = methods
  .filter(({ name }) => !ownMethods.has(name))
  .map(({ name, doc, input, params, result }) => ({
    call: QUERY_CALLS[name] ?? name.replace(/^svc_/, ''),
    method: name,
    doc,
    result,
    members: input,
    count: params.form === 'positional' ? params.count : 0,
    isTransaction: isTransactionResult(result),
  }))
