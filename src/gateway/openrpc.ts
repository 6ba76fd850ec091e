import { type Members, schemaOf } from '../tx/members.ts'
import { rpcErrors, type RpcErrorName } from './errors.ts'
import type { Method } from './methods/define.ts'

const EVERY_CALL: readonly RpcErrorName[] = ['invalidRequest', 'invalidParams', 'internal', 'tooMany']

function contentOf(input: Members): readonly object[] {
  const properties = schemaOf(input)['properties'] as Readonly<Record<string, object>>
  return Object.entries(input).map(([name, { doc, optional }]) => ({
    name,
    description: doc,
    required: !optional,
    schema: properties[name],
  }))
}

function methodObject({ name, doc, input, params, result, errors }: Method): object {
  const names = Object.keys(input).length
  return {
    name,
    summary: doc,
    ...(params.form === 'object'
      ? { description: 'params: one object of members, alone or as the only element of an array.' }
      : {}),
    paramStructure: params.form === 'object' || params.count < names ? 'by-name' : 'either',
    params: contentOf(input),
    result: { name: 'result', schema: result },
    errors: [...EVERY_CALL, ...errors].map((error) => rpcErrors[error]),
  }
}

/**
 * The OpenRPC 1.3 document of the methods, from the schemas that read their params. Source: protocol.md §10,
 * rpc.discover.
 */
export function openRpcDocument(methods: readonly Method[], version: string): object {
  return {
    openrpc: '1.3.2',
    info: { title: 'svcd gateway', description: 'Stake and governance over JSON-RPC 2.0, HTTP POST /.', version },
    methods: methods.map(methodObject),
  }
}
