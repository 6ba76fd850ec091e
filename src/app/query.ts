import type { Handler, QueryRequest, QueryResponse } from '../abci/types.ts'
import { utf8 } from '../base/bytes.ts'
import { encodeCommitmentProof } from '../codec/ics23.ts'
import { BATCH_PATHS_MAX, decodePaths, type PathAnswer } from '../codec/queryBatch.ts'
import { badArgument, type QueryContext, type QueryEntry, type QueryError } from '../modules/define.ts'
import { isMachineFailure } from '../modules/kernel.ts'
import { queryEntries, tables } from '../modules/registry.ts'
import type { CommittedState } from '../store/store.ts'
import type { Table } from '../store/table.ts'
import { type Chain, paramsAt } from './chain.ts'
import { whyNotServed } from './queryRequest.ts'

const PATHS = [...queryEntries.map(({ path }) => path), '/store/<table>/<key>', '/batch']
const HASHED = (tables as readonly unknown[] as readonly Table[]).filter(({ hashed }) => hashed)
const STORE_TABLES = new Map(HASHED.map((table) => [table.name, table]))

const refused = (state: CommittedState, { code, log }: QueryError): QueryResponse => ({ code, log, height: state.height() })

/** The entry of a path and the arguments in it. */
function route(path: string): { readonly entry: QueryEntry; readonly args: readonly string[] } | undefined {
  const parts = path.split('/')
  for (const entry of queryEntries) {
    const form = entry.path.split('/')
    if (form.length === parts.length && form.every((part, at) => part.startsWith('<') || part === parts[at])) {
      return { entry, args: parts.filter((_part, at) => form[at]?.startsWith('<') === true) }
    }
  }
  return undefined
}

function readKey(table: Table, parts: readonly string[]): object | QueryError {
  const columns = Object.entries(table.key)
  if (parts.length !== columns.length) {
    return badArgument(`key: expected /store/${[table.name, ...columns.map(([name]) => `<${name}>`)].join('/')}`)
  }
  const key: Record<string, unknown> = {}
  for (const [at, [name, column]] of columns.entries()) {
    const value = column.parse(parts[at] as string)
    if (value === undefined) return badArgument(`key: ${name} cannot be ${JSON.stringify(parts[at]?.slice(0, 60))}`)
    key[name] = value
  }
  return key
}

/** `/store/<table>/<key>`: the row's bytes as they are hashed, and with `prove` an ICS-23 proof for the app hash in header height + 1. */
function readStore(state: CommittedState, path: string, { prove, height }: QueryRequest): QueryResponse {
  const [name = '', ...parts] = path.split('/').slice(2)
  const table = STORE_TABLES.get(name)
  if (table === undefined) {
    const known = [...STORE_TABLES.keys()].join(', ')
    return refused(state, badArgument(`table: expected one of ${known}, got ${JSON.stringify(name.slice(0, 60))}`))
  }
  if (height !== 0 && height !== state.height()) {
    return refused(state, badArgument(`height: rows are kept at the head ${state.height()} only, got ${height}`))
  }
  const key = readKey(table, parts)
  if ('code' in key) return refused(state, key as QueryError)
  const stateKey = table.keyOf(key)
  const row = state.get(table, key)
  const proof = prove ? state.prove(table, key) : undefined
  return {
    code: 0, key: stateKey, value: row === undefined ? new Uint8Array(0) : table.encode(row), height: state.height(),
    ...(proof === undefined ? {} : { proofOps: { ops: [{ type: 'ics23:smt', key: stateKey, data: encodeCommitmentProof(proof) }] } }),
  }
}

/** What a path says at the head: its `data`, or why it is refused. */
function readPath(context: QueryContext, whole: string): PathAnswer {
  const [path = '', search] = whole.split('?')
  const found = route(path)
  if (found === undefined) {
    return { code: 4, log: `unknown path ${JSON.stringify(path.slice(0, 80))}: expected one of ${PATHS.join(', ')}` }
  }
  const options = new Map((search ?? '').split('&').filter((part) => part !== '').map((part): [string, string] => {
    const at = part.indexOf('=')
    return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
  }))
  return found.entry.run(context, found.args, options)
}

/** See QueryContext. */
function onceAHead(chain: Chain, height: number): QueryContext['once'] {
  return <T>(name: string, make: () => T): T => {
    if (chain.worked?.height !== height) chain.worked = { height, values: new Map() }
    const { values } = chain.worked
    if (!values.has(name)) values.set(name, make())
    return values.get(name) as T
  }
}

/** Keeps a defect to the path that met it. */
function guarded<A>({ options: { logger } }: Chain, path: string, read: () => A): A | QueryError {
  try {
    return read()
  } catch (thrown) {
    if (isMachineFailure(thrown)) throw thrown
    logger.error({ path: path.slice(0, 200), err: thrown }, 'a query met a defect')
    return { code: 1000, log: 'internal defect' }
  }
}

/** `/batch`: what each of the paths in `data` says, all of it at one head. */
function readBatch(data: Uint8Array, read: (path: string) => PathAnswer): PathAnswer {
  const paths = decodePaths(data)
  if (paths === undefined) return badArgument(`data: expected a JSON array of 1 to ${BATCH_PATHS_MAX} paths`)
  const print = (answer: PathAnswer): PathAnswer => ('code' in answer ? { code: answer.code, log: answer.log } : { data: answer.data })
  return { data: paths.map((path) => print(read(path))) }
}

function answer(chain: Chain, request: QueryRequest): QueryResponse {
  const state = chain.options.store
  const height = state.height()
  const { path, data } = request
  const why = whyNotServed(request, height)
  if (why !== undefined) return refused(state, why)
  if (path.startsWith('/store/')) return readStore(state, path.split('?')[0] as string, request)
  const once = onceAHead(chain, height)
  const context = { state, height, requestedHeight: request.height, params: () => paramsAt(chain, height), once }
  const result = path === '/batch' ? readBatch(data, (one) => guarded(chain, one, () => readPath(context, one))) : readPath(context, path)
  return 'code' in result ? refused(state, result) : { code: 0, value: utf8(JSON.stringify(result.data)), height }
}

/**
 * Answers from committed state only: the store's rows change with a commit, and no commit falls within a query. Unknown path or
 * malformed argument: a non-zero code and a log that says which. Source: protocol.md §8; decision record 0010.
 */
export const query = (chain: Chain): Handler<'query'> => (request) => {
  const response = guarded(chain, request.path, () => answer(chain, request))
  return 'height' in response ? response : refused(chain.options.store, response as QueryError)
}
