import { parentPort, workerData } from 'node:worker_threads'
import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import { answerQuery, isListPath, onceIn, QueryRefusal } from '../../app/query.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { tables } from '../../modules/registry.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import type { CommittedState } from '../../store/store.ts'
import { collectWhenQuiet } from '../heap.ts'
import type { QueryAnswer, QueryBatch, QueryWorkerMessage, QueryWorkerOptions } from './thread.ts'
/**
 * The thread in which queries are answered: consensus shares no turn of its event loop with it. Started by thread.ts.
 */

/** Most bytes of list answers that are kept while the state stays as it is. */
const LIST_BYTES_KEPT = 32 * 1024 * 1024
// What retention an answer costs beside its bytes.
const KEPT_BYTES = 1024
// Rows between two looks at the clock.
const ROWS_UNWATCHED = 64

const { path: file, answerMsMax } = workerData as QueryWorkerOptions
const reader = openSqliteReader({ path: file, tables })
const tell = (message: QueryWorkerMessage): void => parentPort?.postMessage(message)
const onDefect = (path: string, thrown: unknown): void =>
  tell({ kind: 'defect', path, why: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) })

/** What was worked out of the state since it was written last. */
interface Head {
  readonly version: bigint
  readonly once: Map<string, unknown>
  /** Answers of lists by path. */
  readonly lists: Map<string, QueryResponse>
  listBytes: number
}

const newHead = (version: bigint): Head => ({ version, once: new Map(), lists: new Map(), listBytes: 0 })
let head = newHead(-1n)

/** The state, which counts the rows that are walked and ends the walk when the time is over. */
function watched(state: CommittedState): { readonly state: CommittedState; readonly rows: () => number } {
  const endMs = performance.now() + answerMsMax
  let rows = 0
  function* watch<R>(walk: Iterable<R>): Generator<R> {
    for (const row of walk) {
      if (++rows % ROWS_UNWATCHED === 0 && performance.now() > endMs) {
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
 * Keeps a list's answer for whoever asks the same of this state, in memory that threads share: it is sent without a
 * copy.
 */
function keep(path: string, response: QueryResponse): QueryResponse {
  const { code, value } = response
  if (code !== 0 || value === undefined) return response
  const shared = new Uint8Array(new SharedArrayBuffer(value.length))
  shared.set(value)
  const kept = { ...response, value: shared }
  const bytes = value.length + path.length + KEPT_BYTES
  if (head.listBytes + bytes > LIST_BYTES_KEPT) {
    head.lists.clear()
    head.listBytes = 0
  }
  head.lists.set(path, kept)
  head.listBytes += bytes
  return kept
}

function answer(state: CommittedState, request: QueryRequest): QueryAnswer {
  const version = reader.version()
  if (version !== head.version) head = newHead(version)
  const { path } = request
  const known = head.lists.get(path)
  if (known !== undefined) return { response: known, cost: known.value?.length ?? 0 }
  const { state: walked, rows } = watched(state)
  const response = answerQuery(walked, request, { once: onceIn(head.once), onDefect })
  const cost = (response.value?.length ?? 0) + ROW_COST * rows()
  return { response: isListPath(path) ? keep(path, response) : response, cost }
}

/**
 * Answers a batch from the state as it is committed now. No read is left open behind it, so that SQLite's WAL can be
 * written back.
 */
const answerBatch = (batch: QueryBatch): readonly QueryAnswer[] =>
  reader.read((state) => batch.map((request) => answer(state, request)))

collectWhenQuiet()
parentPort?.on('message', (batch: QueryBatch) => tell({ kind: 'answered', answers: answerBatch(batch) }))
tell({ kind: 'ready' })

/** What reading one row counts for, in bytes of an answer. */
export const ROW_COST = 512
