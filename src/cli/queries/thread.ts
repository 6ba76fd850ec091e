import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import type { AppLogger, Queries } from '../../app/context.ts'
import { startWorkerThread } from '../../base/workerThread.ts'
import type { QueryError } from '../../modules/define.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { createQueryQueue, QUERY_LIMITS, type QueryLimits, type WaitingQuery } from './queue.ts'

/** The worker thread's start data: the state's database, and the time limit of an answer in ms. */
export interface QueryWorkerOptions {
  readonly path: string
  readonly answerMsMax: number
}

/** Queries that the thread answers in one read of the state. */
export type QueryBatch = readonly QueryRequest[]

/** An answer and its cost: its size in bytes, and ROW_COST of worker.ts for each row that was read. */
export interface QueryAnswer {
  readonly response: QueryResponse
  readonly cost: number
}

/** A message of the thread: it is ready, the answers of a batch in order, or a bug that a query met. */
export type QueryWorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answered'; readonly answers: readonly QueryAnswer[] }
  | { readonly kind: 'defect'; readonly path: string; readonly why: string }

const STOPPING = 'the node is stopping'
const FAILED = 'queries are starting anew, the node’s log says why'

/** Options of `startQueryThread`. */
export interface QueryThreadOptions {
  /** The path of the state's database, which must exist. */
  readonly path: string
  readonly logger: AppLogger
  /** The committed height, for answers that come without reading the state. */
  readonly height: () => number
  readonly limits?: Partial<QueryLimits>
}

/** Answers queries in a thread of its own. */
export interface QueryThread extends Queries {
  /** Refuses the waiting queries and ends the thread at once. */
  readonly close: () => Promise<void>
}

type Answered = (answers: readonly QueryAnswer[] | undefined) => void

/**
 * Starts the worker thread, which answers one batch at a time and is replaced when it fails. `changed` is called when
 * it is ready and when it has failed.
 */
function startQueryWorker({ path, logger }: QueryThreadOptions, limits: QueryLimits, changed: () => void) {
  let state: 'starting' | 'ready' | 'failed' | 'closed' = 'starting'
  let answered: Answered | undefined
  let timer: NodeJS.Timeout | undefined

  const settle: Answered = (answers) => {
    clearTimeout(timer)
    const callback = answered
    answered = undefined
    callback?.(answers)
  }
  const thread = startWorkerThread<QueryBatch, QueryWorkerMessage>({
    file: new URL('./worker.ts', import.meta.url),
    workerData: { path, answerMsMax: limits.answerMsMax } satisfies QueryWorkerOptions,
    heapMibMax: 512,
    restartMs: 1000,
    onMessage: (message) => {
      if (message.kind === 'defect')
        return logger.error({ path: message.path, err: message.why }, 'a query met a defect')
      if (message.kind === 'answered') return settle(message.answers)
      clearTimeout(timer)
      state = 'ready'
      changed()
    },
    onFailed: (err) => {
      logger.error({ err }, 'the thread of queries failed: another one is started')
      state = 'failed'
      settle(undefined)
      changed()
    },
    onRestarted: () => {
      state = 'starting'
      watch(limits.startMsMax)
    },
  })
  const watch = (ms: number): void => {
    timer = setTimeout(() => thread.fail(new Error(`the thread of queries was silent for ${ms} ms`)), ms).unref()
  }

  watch(limits.startMsMax)
  return {
    state: () => state,
    /** Allowed only while `ready`. `then` receives the answers, or undefined when the thread failed. */
    ask: (batch: QueryBatch, then: Answered): void => {
      answered = then
      watch(limits.silentMsMax)
      thread.post(batch)
    },
    close: (): Promise<void> => {
      state = 'closed'
      settle(undefined)
      return thread.close()
    },
  }
}

/**
 * Starts the thread that answers queries. It reads through a read-only connection of its own, each answer from one
 * committed height. It can neither delay nor stop the chain: queries above a limit, or while the thread restarts, are
 * answered with an error code. Source: protocol.md §8; decision record 0014.
 */
export function startQueryThread(options: QueryThreadOptions): QueryThread {
  const limits: QueryLimits = { ...QUERY_LIMITS, ...options.limits }
  const queue = createQueryQueue(limits)
  let asking: 'list' | 'others' | undefined

  const refusal = ({ code, log }: QueryError): QueryResponse => ({ code, log, height: options.height() })
  const unavailable = (why: string): QueryResponse => refusal(kernelErrors.unavailable(why))
  const refuse = ({ done }: WaitingQuery, why: string): void => done(refusal(kernelErrors.busy(why)))
  const refuseAll = (why: string): void => {
    for (const { done } of queue.takeAll()) done(unavailable(why))
  }

  const next = (): void => {
    if (worker.state() !== 'ready' || asking !== undefined) return
    const { queries, isList } = queue.take(performance.now(), refuse)
    if (queries.length === 0) return
    asking = isList ? 'list' : 'others'
    worker.ask(
      queries.map(({ request }) => request),
      (answers) => {
        asking = undefined
        const cost = answers?.reduce((sum, answer) => sum + answer.cost, 0) ?? 0
        if (isList && queue.listAnswered(cost, performance.now())) setTimeout(next, limits.restMsMax + 1).unref()
        for (const [at, one] of queries.entries()) {
          const answer = answers?.[at]
          if (answer === undefined) one.done(unavailable(worker.state() === 'closed' ? STOPPING : FAILED))
          else one.done(answer.response)
        }
        next()
      },
    )
  }
  const worker = startQueryWorker(options, limits, () => {
    if (worker.state() === 'failed') return refuseAll(FAILED)
    queue.begin(performance.now())
    next()
  })

  return {
    ask: (request) => {
      const state = worker.state()
      if (state === 'failed' || state === 'closed') return unavailable(state === 'failed' ? FAILED : STOPPING)
      return new Promise((done) => {
        // The bytes are copied because they are a view of the packet in which they came.
        const waiting = { request: { ...request, data: Uint8Array.from(request.data) }, done }
        const why = queue.add(waiting, performance.now())
        if (why === undefined) next()
        else refuse(waiting, why)
      })
    },
    committed: () => {
      queue.committed(asking === 'list')
      next()
    },
    close: async () => {
      const closed = worker.close()
      refuseAll(STOPPING)
      await closed
    },
  }
}
