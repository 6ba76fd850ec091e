/** The thread that answers queries, apart from the event loop on which consensus runs. thread.ts starts it. */
import { parentPort, workerData } from 'node:worker_threads'
import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import { answerQuery, isListPath, onceIn } from '../../app/query.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { QueryRefusal } from '../../modules/query.ts'
import { tables } from '../../modules/registry.ts'
import { historyQueries } from '../history/queries.ts'
import { type CommittedState, openSqliteReader } from '../../store/index.ts'
import { collectWhenQuiet } from '../runtime.ts'
import type { QueryAnswer, QueryWorkerMessage, QueryWorkerOptions } from './thread.ts'

/** The most bytes of list answers that are cached while the state does not change. */
const CACHE_BYTES_MAX = 32 * 1024 * 1024
// What a cached answer costs beside its bytes.
const CACHED_ANSWER_BYTES = 1024
// The cost of reading one row, in bytes of an answer.
const ROW_COST = 512
// The rows between two checks of the time limit.
const ROWS_PER_CHECK = 64

const { path: file, historyPath, answerMsMax } = workerData as QueryWorkerOptions
const local = historyQueries(historyPath)
const reader = openSqliteReader({ path: file, tables })
const post = (message: QueryWorkerMessage): void => parentPort?.postMessage(message)
const onDefect = (path: string, thrown: unknown): void =>
  post({ kind: 'defect', path, why: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) })

/** What is cached until the state is written again. */
interface Head {
  readonly version: bigint
  readonly once: Map<string, unknown>
  /** The answers of lists by path. */
  readonly lists: Map<string, QueryResponse>
  listBytes: number
}

const newHead = (version: bigint): Head => ({ version, once: new Map(), lists: new Map(), listBytes: 0 })
let head = newHead(-1n)

/** Wraps the state so that it counts the rows that are read, and ends the reading when the time is over. */
function watched(state: CommittedState): { readonly state: CommittedState; readonly rows: () => number } {
  const endMs = performance.now() + answerMsMax
  let rows = 0
  function* watch<R>(walk: Iterable<R>): Generator<R> {
    for (const row of walk) {
      if (++rows % ROWS_PER_CHECK === 0 && performance.now() > endMs) {
        throw new QueryRefusal(
          kernelErrors.tooMuch(
            `expected at most ${answerMsMax} ms of reading, it takes longer; ask for a part of the list with limit and offset`,
          ),
        )
      }
      yield row
    }
  }
  return { rows: () => rows, state: { ...state, scan: (table, scan) => watch(state.scan(table, scan)) } }
}

/**
 * Caches the answer of a list for equal queries of this state. It is in memory that threads share, so it is sent
 * without a copy.
 */
function cache(path: string, response: QueryResponse): QueryResponse {
  const { code, value } = response
  if (code !== 0 || value === undefined) return response
  const shared = new Uint8Array(new SharedArrayBuffer(value.length))
  shared.set(value)
  const cached = { ...response, value: shared }
  const bytes = value.length + path.length + CACHED_ANSWER_BYTES
  if (head.listBytes + bytes > CACHE_BYTES_MAX) {
    head.lists.clear()
    head.listBytes = 0
  }
  head.lists.set(path, cached)
  head.listBytes += bytes
  return cached
}

function answer(state: CommittedState, request: QueryRequest): QueryAnswer {
  const version = reader.version()
  if (version !== head.version) head = newHead(version)
  const { path } = request
  const known = head.lists.get(path)
  if (known !== undefined) return { response: known, cost: known.value?.length ?? 0 }
  const { state: walked, rows } = watched(state)
  const response = answerQuery(walked, request, { once: onceIn(head.once), onDefect, local })
  const cost = (response.value?.length ?? 0) + ROW_COST * rows()
  return { response: isListPath(path) ? cache(path, response) : response, cost }
}

collectWhenQuiet()
parentPort?.on('message', (batch: readonly QueryRequest[]) => {
  // From the state that is committed now. No read stays open afterwards, so that SQLite's WAL can be written back.
  const answers = reader.read((state) => batch.map((request) => answer(state, request)))
  post({ kind: 'answered', answers })
})
post({ kind: 'ready' })
