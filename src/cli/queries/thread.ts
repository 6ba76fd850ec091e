import { Worker } from 'node:worker_threads'
import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import type { AppLogger, Queries } from '../../app/context.ts'
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

/** An answer and its cost: its size in bytes, and ROW_COST for each row that was read for it. */
export interface QueryAnswer {
  readonly response: QueryResponse
  readonly cost: number
}

/** A message of the thread: it is ready, the answers of a batch in order, or a bug that a query met. */
export type QueryWorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answered'; readonly answers: readonly QueryAnswer[] }
  | { readonly kind: 'defect'; readonly path: string; readonly why: string }

// The sources run as TypeScript, the published package as JavaScript.
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('./worker.ts', import.meta.url)
  : new URL('./worker.js', import.meta.url)

/** The most heap memory that the thread may use, in MiB. A query that needs more ends the thread, not the node. */
const HEAP_MIB_MAX = 512

// The pause between the end of a failed thread and the next one.
const RESTART_MS = 1000

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

/** Answers batches of queries, one at a time, in a thread that is replaced when it fails. */
interface QueryWorker {
  state(): 'starting' | 'ready' | 'failed' | 'closed'
  /** Allowed only while `ready`. `answered` receives the answers, or undefined when the thread failed. */
  ask(batch: QueryBatch, answered: (answers: readonly QueryAnswer[] | undefined) => void): void
  close(): Promise<void>
}

/** Starts the worker thread. `changed` is called when it is ready and when it has failed. */
function startQueryWorker({ path, logger }: QueryThreadOptions, limits: QueryLimits, changed: () => void): QueryWorker {
  let worker: Worker | undefined
  let state: 'starting' | 'ready' | 'failed' | 'closed' = 'starting'
  let answered: ((answers: readonly QueryAnswer[] | undefined) => void) | undefined
  let timer: NodeJS.Timeout | undefined

  const settle = (answers: readonly QueryAnswer[] | undefined): void => {
    clearTimeout(timer)
    const callback = answered
    answered = undefined
    callback?.(answers)
  }
  const watch = (ms: number): void => {
    timer = setTimeout(() => fail(new Error(`the thread of queries was silent for ${ms} ms`)), ms).unref()
  }
  const onMessage = (message: QueryWorkerMessage): void => {
    if (message.kind === 'defect') return logger.error({ path: message.path, err: message.why }, 'a query met a defect')
    if (message.kind === 'answered') return settle(message.answers)
    clearTimeout(timer)
    state = 'ready'
    changed()
  }
  const begin = (): void => {
    state = 'starting'
    watch(limits.startMsMax)
    const workerData: QueryWorkerOptions = { path, answerMsMax: limits.answerMsMax }
    const own = new Worker(WORKER, { workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX } })
    worker = own
    own.on('message', (message: QueryWorkerMessage) => {
      if (worker === own) onMessage(message)
    })
    own.on('error', (error) => {
      if (worker === own) fail(error)
    })
    own.once('exit', () => {
      if (worker === own) fail(new Error('the thread of queries has ended'))
    })
    own.unref()
  }
  const fail = (err: Error): void => {
    logger.error({ err }, 'the thread of queries failed: another one is started')
    state = 'failed'
    const own = worker
    worker = undefined
    settle(undefined)
    changed()
    // The next thread starts only when this one has ended, so there are never two.
    void own?.terminate().finally(() => {
      setTimeout(() => {
        if (state === 'failed') begin()
      }, RESTART_MS).unref()
    })
  }

  begin()
  return {
    state: () => state,
    ask: (batch, then) => {
      answered = then
      watch(limits.silentMsMax)
      worker?.postMessage(batch)
    },
    close: async () => {
      state = 'closed'
      const own = worker
      worker = undefined
      settle(undefined)
      await own?.terminate()
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
