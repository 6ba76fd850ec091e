import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { txEntries } from '../../src/modules/registry.ts'
import type { Fields } from '../../src/tx/fields.ts'
import type { JsonSchema } from '../../src/values/valueType.ts'

/** A method of the gateway that is no operation, as a function of the client. */
export interface ClientQuery {
  readonly call: string
  readonly method: string
  readonly doc: string
  readonly fields: Fields
  /** How many of them may be given by position. */
  readonly count: number
  readonly result: JsonSchema
  /** True when it answers with a transaction result object. */
  readonly isTransaction: boolean
}

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
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOfSchema))].join(' | ')
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

const ownMethods = new Set(txEntries.map(({ method }) => method))

function isTransactionResult(schema: JsonSchema): boolean {
  const names = Object.keys((schema['properties'] ?? {}) as object)
  return names.slice(0, 4).join() === 'height,hash,check_tx,deliver_tx'
}

/** Every other method of the gateway. */
export const clientQueries: readonly ClientQuery[] = methods
  .filter(({ name, isForeign, needsSocket }) => !ownMethods.has(name) && isForeign !== true && needsSocket !== true)
  .map(({ name, call, doc, input, positional = 0, result }) => ({
    call: call ?? name.replace(/^(?:svc_|rpc\.)/, ''),
    method: name,
    doc,
    result,
    fields: input,
    count: positional,
    isTransaction: isTransactionResult(result),
  }))
