import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import type { AppLogger } from '../../app/context.ts'
import { startWorkerThread } from '../../base/workerThread.ts'
import type { TxError } from '../../base/txError.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { createQueryQueue, QUERY_LIMITS, type QueryLimits, type WaitingQuery } from './queue.ts'

/** The worker thread's start data: the databases of the state and of the histories, and the time limit of an answer in ms. */
export interface QueryWorkerOptions {
  readonly path: string
  readonly historyPath: string | undefined
  readonly answerMsMax: number
}

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

interface QueryThreadOptions {
  /** The path of the state's database, which must exist. */
  readonly path: string
  /** The path of the index of histories. Without it none are answered. */
  readonly historyPath?: string | undefined
  readonly logger: AppLogger
  /** The committed height, for answers that come without reading the state. */
  readonly height: () => number
  readonly limits?: Partial<QueryLimits>
}

/**
 * Starts the thread that answers queries. It reads through a read-only connection of its own, each answer from one
 * committed height. It can neither delay nor stop the chain: queries above a limit, or while the thread restarts, are
 * answered with an error code. Source: protocol.md §8; decision record 0014.
 */
export function startQueryThread({ path, historyPath, logger, height, limits: given }: QueryThreadOptions) {
  const limits: QueryLimits = { ...QUERY_LIMITS, ...given }
  const queue = createQueryQueue(limits)
  let state: 'starting' | 'ready' | 'failed' | 'closed' = 'starting'
  /** The queries that the thread is answering. */
  let asked: ReturnType<typeof queue.take> | undefined
  let timer: NodeJS.Timeout | undefined

  const refusal = ({ code, log }: TxError): QueryResponse => ({ code, log, height: height() })
  const refuse = ({ done }: WaitingQuery, why: string): void => done(refusal(kernelErrors.busy(why)))
  const unavailable = (): QueryResponse => refusal(kernelErrors.unavailable(state === 'closed' ? STOPPING : FAILED))
  const watch = (ms: number): void => {
    timer = setTimeout(() => {
      const late = timer
      // The one that stood still may be this thread: what has come meanwhile is read first.
      setImmediate(() => timer === late && thread.fail(new Error(`the thread of queries was silent for ${ms} ms`)))
    }, ms).unref()
  }
  const unwatch = (): void => {
    clearTimeout(timer)
    timer = undefined
  }
  const settle = (answers: readonly QueryAnswer[]): void => {
    unwatch()
    const { queries, isList } = asked ?? { queries: [], isList: false }
    asked = undefined
    const cost = answers.reduce((sum, answer) => sum + answer.cost, 0)
    if (isList && queue.listAnswered(cost, performance.now())) setTimeout(next, limits.restMsMax + 1).unref()
    for (const [at, { done }] of queries.entries()) done(answers[at]?.response ?? unavailable())
  }
  const refuseAll = (): void => {
    settle([])
    for (const { done } of queue.takeAll()) done(unavailable())
  }
  const next = (): void => {
    if (state !== 'ready' || asked !== undefined) return
    const batch = queue.take(performance.now(), refuse)
    if (batch.queries.length === 0) return
    asked = batch
    watch(limits.silentMsMax)
    thread.post(batch.queries.map(({ request }) => request))
  }
  const onMessage = (message: QueryWorkerMessage): void => {
    if (message.kind === 'defect') return logger.error({ path: message.path, err: message.why }, 'a query met a defect')
    if (message.kind === 'answered') settle(message.answers)
    else {
      unwatch()
      state = 'ready'
      queue.begin(performance.now())
    }
    next()
  }
  const thread = startWorkerThread<readonly QueryRequest[], QueryWorkerMessage>({
    file: new URL('./worker.ts', import.meta.url),
    workerData: { path, historyPath, answerMsMax: limits.answerMsMax } satisfies QueryWorkerOptions,
    heapMibMax: 512,
    tellsLoaded: true,
    restartMs: 1000,
    onMessage,
    onFailed: (err) => {
      logger.error({ err }, 'the thread of queries failed: another one is started')
      state = 'failed'
      refuseAll()
    },
    onRestarted: () => {
      state = 'starting'
      watch(limits.startMsMax)
    },
  })

  watch(limits.startMsMax)
  return {
    ask: (request: QueryRequest): QueryResponse | Promise<QueryResponse> => {
      if (state === 'failed' || state === 'closed') return unavailable()
      return new Promise((done) => {
        // The bytes are copied because they are a view of the packet in which they came.
        const waiting = { request: { ...request, data: Uint8Array.from(request.data) }, done }
        const why = queue.add(waiting, performance.now())
        if (why === undefined) next()
        else refuse(waiting, why)
      })
    },
    committed: (): void => {
      queue.committed(asked?.isList === true)
      next()
    },
    /** Refuses the waiting queries and ends the thread. */
    close: () => {
      state = 'closed'
      refuseAll()
      return thread.close()
    },
  }
}
