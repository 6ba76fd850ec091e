import { pascalCase } from '../../base/pascalCase.ts'
import { schemaOf } from '../../tx/fields.ts'
import { checkTxSchema, deliverTxSchema } from '../../tx/result.ts'
import { uint } from '../../values/number.ts'
import { objectSchema } from '../../values/shape.ts'
import type { JsonSchema } from '../../values/valueType.ts'
import type { Piece } from './envelope.ts'
import { type RpcErrorName, rpcErrors } from './errors.ts'
import examples from './examples.json' with { type: 'json' }
import type { Method, MethodGroup } from './methods/define.ts'
import { createTitler } from './schemaTitles.ts'

/** The schema of any text. */
export const string: JsonSchema = { type: 'string' }
const integer = uint.schema

/** The schema of a value that may be null. */
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })

/** An object that generated code has a type of this name for. */
export const named = (title: string, ...members: Parameters<typeof objectSchema>): JsonSchema => ({
  title,
  ...objectSchema(...members),
})

/** The members of a transaction in a block. Source: protocol.md §10, svc_getTransaction. */
export const foundTransactionMembers = {
  height: integer,
  hash: string,
  index: integer,
  sender: orNull(string),
  nonce: orNull(integer),
  operation: orNull(string),
  message: orNull({ type: 'object' }),
  check_tx: checkTxSchema,
  deliver_tx: deliverTxSchema(),
}

/** A transaction in a block. */
export const foundTransaction: JsonSchema = named('FoundTransaction', foundTransactionMembers)

const EVERY_CALL: readonly RpcErrorName[] = ['invalidRequest', 'invalidParams', 'internal', 'tooMany']

/** A call of a method and its answer, as tools/record-examples.ts recorded them on a devnet. */
interface Example {
  readonly params: Readonly<Record<string, unknown>>
  readonly result: unknown
}

const exampleOf = (name: string): Example | undefined => (examples as Readonly<Record<string, Example>>)[name]

const SIGNS = { name: 'signs', description: 'The gateway signs the transaction with the key of `from`.' }
const SOCKET = { name: 'websocket', description: 'Answered over a websocket only.' }

/**
 * The names of a method's params in the order of the document. By position it is that of the input. By name it is free:
 * required ones first, as in a function, then those of the example, so that an example is a prefix of the params.
 */
function paramOrder({ name, input, positional }: Method): readonly string[] {
  const names = Object.keys(input)
  if (positional === names.length) return names
  const shown = Object.keys(exampleOf(name)?.params ?? {})
  const rankOf = (field: string): number => {
    if (input[field]?.optional !== true) return 0
    return shown.includes(field) ? 1 + shown.indexOf(field) : 1 + shown.length
  }
  return names.sort((a, b) => rankOf(a) - rankOf(b))
}

/** A method as the document describes it. `titled` is a titler of the whole document. */
function methodObject(group: string, method: Method, titled: ReturnType<typeof createTitler>): object {
  const { name, doc, input, positional, result, errors, signs = false, needsSocket = false } = method
  const properties = schemaOf(input)['properties'] as Readonly<Record<string, JsonSchema>>
  const order = paramOrder(method)
  const example = exampleOf(name)
  const given = Object.entries(example?.params ?? {})
  // An object has no type of its own by whose name it could be known.
  const typeName = (field: string): string => {
    const type = input[field]?.type ?? ''
    return `${type === 'object' ? field : type}Input`
  }
  return {
    name,
    summary: doc,
    ...(positional === undefined
      ? { description: 'params: one object of members, alone or as the only element of an array.' }
      : {}),
    tags: [{ name: group }, ...(signs ? [SIGNS] : []), ...(needsSocket ? [SOCKET] : [])],
    paramStructure: positional === order.length ? 'either' : 'by-name',
    params: order.map((field) => ({
      name: field,
      description: input[field]?.doc,
      required: input[field]?.optional !== true,
      schema: titled(properties[field] as JsonSchema, typeName(field), pascalCase(`${name}_${field}`)),
    })),
    result: { name: 'result', schema: titled(result, `${name}_result`, pascalCase(name)) },
    errors: [...EVERY_CALL, ...errors].map((error) => rpcErrors[error]),
    examples:
      example === undefined
        ? []
        : [
            {
              name: 'on a devnet',
              params: given
                .map(([field, value]) => ({ name: field, value }))
                .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
              result: { name: 'result', value: example.result },
            },
          ],
  }
}

function methodObjects(groups: readonly MethodGroup[]): readonly object[] {
  const described = groups.flatMap(({ name, methods }) =>
    methods.filter((method) => !method.name.startsWith('rpc.')).map((method) => [name, method] as const),
  )
  const titled = createTitler(described.map(([, { name }]) => pascalCase(name)))
  return described.map(([group, method]) => methodObject(group, method, titled))
}

const headOf = (version: string, url: string): object => ({
  // @open-rpc/test-coverage reads documents of at most this version.
  openrpc: '1.2.6',
  info: { title: 'svcd gateway', description: 'Stake and governance over JSON-RPC 2.0, HTTP POST /.', version },
  servers: [{ name: 'gateway', url, summary: 'HTTP POST, or a websocket, which the subscriptions need' }],
})

/**
 * Returns a function that writes the OpenRPC document of the methods for the address at which a caller reached the
 * gateway, from the schemas that read their params. Callers share the large piece. The first tag of a method is its
 * group. It describes no method of OpenRPC's own (`rpc.discover`): the specification keeps these names, and generated
 * clients have no function of that name. Source: protocol.md §10, rpc.discover.
 */
export function createDocument(groups: readonly MethodGroup[], version: string): (url: string) => readonly Piece[] {
  const methods = Buffer.from(JSON.stringify(methodObjects(groups)))
  return (url) => [`${JSON.stringify(headOf(version, url)).slice(0, -1)},"methods":`, methods, '}']
}
