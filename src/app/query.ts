import type { QueryRequest, QueryResponse } from '../abci/types.ts'
import { utf8 } from '../base/bytes.ts'
import { isMachineFailure } from '../base/engineErrors.ts'
import type { TxError } from '../base/txError.ts'
import { BATCH_PATHS_MAX, decodePaths, type PathAnswer } from '../codec/queryBatch.ts'
import { kernelErrors } from '../modules/errors.ts'
import {
  type QueryAnswer,
  type QueryContext,
  type QueryEntry,
  queryOfPath,
  QueryRefusal,
  readPath,
} from '../modules/query.ts'
import { type ChainTable, queryEntries, tables } from '../modules/registry.ts'
import { type CommittedState, queryRow } from '../store/index.ts'
import type { AppContext } from './context.ts'

/** The most bytes in the value of one answer. Source: protocol.md §8. */
export const ANSWER_BYTES_MAX: number = 32 * 1024 * 1024

const { badArgument } = kernelErrors
const HASHED = (tables as readonly unknown[] as readonly ChainTable[]).filter(({ hashed }) => hashed)
const STORE_TABLES = new Map(HASHED.map((table) => [table.name, table]))

const refused = (state: CommittedState, { code, log }: TxError): QueryResponse => ({
  code,
  log,
  height: state.height(),
})

function readKey(table: ChainTable, parts: readonly string[]): object | TxError {
  const columns = Object.entries(table.key)
  if (parts.length !== columns.length) {
    return badArgument(`key: expected /store/${[table.name, ...columns.map(([name]) => `<${name}>`)].join('/')}`)
  }
  const key: Record<string, unknown> = {}
  for (const [index, [name, column]] of columns.entries()) {
    const value = column.parse(parts[index] as string)
    if (value === undefined) return badArgument(`key: ${name} cannot be ${JSON.stringify(parts[index]?.slice(0, 60))}`)
    key[name] = value
  }
  return key
}

/**
 * Answers `/store/<table>/<key>` with the bytes of the row that the app hash covers. With `prove` it adds an ICS-23 proof
 * for the app hash in the header of height + 1.
 */
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
  if ('code' in key) return refused(state, key as TxError)
  return queryRow(state, table, key, { prove })
}

const tooLong = (): QueryRefusal =>
  new QueryRefusal(
    kernelErrors.tooMuch(
      `expected at most ${ANSWER_BYTES_MAX} bytes, there are more; ask for a part of the list with limit and offset`,
    ),
  )

function printAnswer(answer: QueryAnswer): Uint8Array {
  if ('data' in answer) return utf8(JSON.stringify(answer.data))
  const printed: string[] = []
  let length = 0
  for (const item of answer.items) {
    const text = JSON.stringify(item)
    length += text.length + 1
    if (length > ANSWER_BYTES_MAX) throw tooLong()
    printed.push(text)
  }
  const list = `[${printed.join(',')}]`
  return utf8(answer.total === undefined ? list : `{"data":${list},"total":${answer.total}}`)
}

const pathIn = (whole: string): readonly [path: string, search: string] => {
  const at = whole.indexOf('?')
  return at < 0 ? [whole, ''] : [whole.slice(0, at), whole.slice(at + 1)]
}

/** True for a path of a list: of the state, unless other `entries` are given. */
export const isListPath = (whole: string, entries: readonly QueryEntry[] = queryEntries): boolean =>
  queryOfPath(pathIn(whole)[0], entries)?.isList === true

/** The answer of a path at the newest height. Throws a QueryRefusal where the path is refused. */
function answerPath(context: QueryContext, whole: string, entries: readonly QueryEntry[]): QueryAnswer {
  const [path, search] = pathIn(whole)
  const entry = queryOfPath(path, entries)
  if (entry !== undefined) return entry.answer(context, readPath(entry, path, search))
  const known = [...entries.map((one) => one.path), '/store/<table>/<key>', '/batch']
  throw new QueryRefusal(kernelErrors.unknownPath(JSON.stringify(path.slice(0, 80)), known.join(', ')))
}

/** Calls `make` once for each name, and keeps what it returned in `values`. */
export function onceIn(values: Map<string, unknown>): QueryContext['once'] {
  return <T>(name: string, make: () => T): T => {
    if (!values.has(name)) values.set(name, make())
    return values.get(name) as T
  }
}

/** What a query needs besides the state. */
export interface Answering {
  /** See QueryContext. */
  readonly once: QueryContext['once']
  /** Called when a path ran into a defect. */
  readonly onDefect: (path: string, thrown: unknown) => void
  /** Further queries, which this node answers outside consensus. */
  readonly local?: readonly QueryEntry[]
}

/** Confines a defect, or a limit that was reached, to the path that met it. A failure of the machine is thrown. */
function guarded<A>(path: string, onDefect: Answering['onDefect'], read: () => A): A | TxError {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof QueryRefusal) return thrown.error
    if (isMachineFailure(thrown)) throw thrown
    onDefect(path.slice(0, 200), thrown)
    return kernelErrors.defect
  }
}

/** Answers `/batch`: each of the paths in `data`, all at one height. Lists are refused. */
function readBatch(
  data: Uint8Array,
  entries: readonly QueryEntry[],
  read: (path: string) => QueryAnswer | TxError,
): QueryAnswer | TxError {
  const paths = decodePaths(data)
  if (paths === undefined) return badArgument(`data: expected a JSON array of 1 to ${BATCH_PATHS_MAX} paths`)
  const list = paths.find((path) => isListPath(path, entries))
  if (list !== undefined) {
    return badArgument(`data: /batch takes no lists, got ${JSON.stringify(list.slice(0, 80))}; ask for that path alone`)
  }
  const print = (answer: QueryAnswer | TxError): PathAnswer => {
    if ('code' in answer) return { code: answer.code, log: answer.log }
    return { data: 'data' in answer ? answer.data : [...answer.items] }
  }
  return { data: paths.map((path) => print(read(path))) }
}

function answer(
  state: CommittedState,
  request: QueryRequest,
  { once, onDefect, local = [] }: Answering,
): QueryResponse {
  const { path, data } = request
  if (path.startsWith('/store/')) return readStore(state, path.split('?')[0] as string, request)
  const height = state.height()
  const context = { state, height, requestedHeight: request.height, once }
  const entries = [...queryEntries, ...local]
  const readOne = (one: string): QueryAnswer | TxError =>
    guarded(one, onDefect, () => answerPath(context, one, entries))
  const result = path === '/batch' ? readBatch(data, entries, readOne) : answerPath(context, path, entries)
  if ('code' in result) return refused(state, result)
  const value = printAnswer(result)
  if (value.length > ANSWER_BYTES_MAX) throw tooLong()
  return { code: 0, value, height }
}

/**
 * Answers a query from one committed state. An unknown path or a malformed argument gets a non-zero code, and a log that
 * names it. A failure of the machine is thrown. Source: protocol.md §8; decision record 0014.
 */
export function answerQuery(state: CommittedState, request: QueryRequest, answering: Answering): QueryResponse {
  const response = guarded(request.path, answering.onDefect, () => answer(state, request, answering))
  return 'height' in response ? response : refused(state, response as TxError)
}

/** The most characters in the path of a query. The longest path that is served has about 200. */
export const QUERY_PATH_MAX = 1000

/** The most bytes in the data of a query, which holds up to 16 paths. */
export const QUERY_DATA_BYTES_MAX = 65_536

/**
 * Why a query is refused before its path is read; undefined when it is not. Strangers send these requests over
 * CometBFT's RPC. A height may be any int64, where one beyond ±(2^53 − 1) was read as that bound, and bytes of the path
 * that are not UTF-8 were read as U+FFFD.
 */
function whyNotServed({ path, data, height }: QueryRequest, head: number): TxError | undefined {
  if (path.length > QUERY_PATH_MAX)
    return badArgument(`path: expected at most ${QUERY_PATH_MAX} characters, got ${path.length}`)
  if (path.includes('\ufffd')) return badArgument(`path: expected UTF-8, got ${JSON.stringify(path.slice(0, 80))}`)
  if (height < 0 || height > head) return badArgument(`height: expected 0 to the head ${head}, got ${height}`)
  if (data.length > QUERY_DATA_BYTES_MAX)
    return badArgument(`data: expected at most ${QUERY_DATA_BYTES_MAX} bytes, got ${data.length}`)
  return undefined
}

/** Answers a query: in the thread of `queries`, or from the store at once when there is none. */
export function query(
  { options: { store, logger, queries } }: AppContext,
  request: QueryRequest,
): QueryResponse | Promise<QueryResponse> {
  const why = whyNotServed(request, store.height())
  if (why !== undefined) return refused(store, why)
  if (queries !== undefined) return queries.ask(request)
  const onDefect = (path: string, err: unknown): void => logger.error({ path, err }, 'a query met a defect')
  return answerQuery(store, request, { once: onceIn(new Map()), onDefect })
}
