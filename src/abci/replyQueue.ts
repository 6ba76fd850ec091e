import type { ConnectionContext } from './context.ts'
import type { AbciResponse, RequestKind } from './types.ts'
import { createReplyBuffer } from './wire.ts'

/** The kind of a reply: that of its request, or an exception for what cannot be served. */
export type ReplyKind = RequestKind | 'exception'

/** The replies of one connection, in the order of its requests, whichever handler finishes first. */
export interface ReplyQueue {
  /** The number of requests that are not answered yet, and of answers that wait behind them. */
  waiting(): number
  /** True while a request of this kind must not start. */
  blocks(kind: RequestKind | undefined): boolean
  /** Answers the next request now. The response of an exception is its text. */
  answer(kind: ReplyKind, response: unknown): void
  /** Answers the next request when `response` settles. A rejection is fatal. */
  answerLater(kind: RequestKind, response: PromiseLike<unknown>): void
  /** The number of bytes that are ready to be sent. */
  size(): number
  /** Removes and returns the bytes that are ready to be sent. */
  take(): Uint8Array
}

// These requests change nothing, so they may overlap. Every other one starts when all before it are answered.
const OVERLAPPING: ReadonlySet<RequestKind | undefined> = new Set([
  undefined,
  'echo',
  'flush',
  'query',
  'loadSnapshotChunk',
])

interface PendingReply {
  readonly kind: ReplyKind
  response: unknown
  answered: boolean
}

/** An empty queue. `onSettled` is called whenever the response of an `answerLater` has settled. */
export function createReplyQueue(context: ConnectionContext, onSettled: () => void): ReplyQueue {
  const replies = createReplyBuffer()
  const pending: PendingReply[] = []
  let isExclusive = false // a request that may not overlap others is not answered yet

  const put = (kind: ReplyKind, response: unknown): void => {
    if (context.isDead()) return
    if (kind === 'exception') return replies.putException(String(response))
    try {
      const isCommit = kind === 'commit' && typeof response === 'object' && response !== null
      replies.put(kind, isCommit ? context.dialect.commit(response) : (response as AbciResponse))
    } catch (error) {
      context.fatal(error, kind)
    }
  }

  const settle = (reply: PendingReply, response: unknown): void => {
    reply.response = response
    reply.answered = true
    while (pending[0]?.answered === true) {
      const first = pending.shift() as PendingReply
      put(first.kind, first.response)
    }
    if (pending.length === 0) isExclusive = false
    onSettled()
  }

  return {
    waiting: () => pending.length,
    blocks: (kind) => pending.length > 0 && (isExclusive || !OVERLAPPING.has(kind)),
    answer: (kind, response) => {
      if (pending.length === 0) put(kind, response)
      else pending.push({ kind, response, answered: true })
    },
    answerLater: (kind, response) => {
      const reply: PendingReply = { kind, response: undefined, answered: false }
      pending.push(reply)
      isExclusive = !OVERLAPPING.has(kind)
      response.then(
        (value) => settle(reply, value),
        (error: unknown) => context.fatal(error, kind),
      )
    },
    size: replies.size,
    take: replies.take,
  }
}
