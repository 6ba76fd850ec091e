import type { ConnectionContext } from './context.ts'
import type { RequestKind } from './types.ts'
import { createReplyBuffer, type ReplyKind } from './wire.ts'

/** Makes the replies that are sent of a response, where they are not the response itself. */
export type Unfold = (response: unknown) => Iterable<readonly [ReplyKind, unknown]>

/**
 * The replies of one connection, in the order of its requests, whichever handler finishes first. Its bytes are those
 * that are ready to be sent.
 */
export type ReplyQueue = ReturnType<typeof createReplyQueue>

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
  readonly unfold: Unfold | undefined
  response: unknown
  answered: boolean
}

/** Creates an empty queue. `onSettled` is called whenever the response of an `answerLater` has settled. */
export function createReplyQueue(context: ConnectionContext, onSettled: () => void) {
  const replies = createReplyBuffer()
  const pending: PendingReply[] = []
  let isExclusive = false // a request that may not overlap others is not answered yet

  const put = (kind: ReplyKind, response: unknown, unfold: Unfold | undefined): void => {
    if (context.isDead()) return
    try {
      if (unfold !== undefined) for (const [part, value] of unfold(response)) replies.put(part, value)
      else replies.put(kind, response)
    } catch (error) {
      context.fatal(error, kind as RequestKind) // an exception is always a message
    }
  }

  const settle = (reply: PendingReply, response: unknown): void => {
    reply.response = response
    reply.answered = true
    while (pending[0]?.answered === true) {
      const first = pending.shift() as PendingReply
      put(first.kind, first.response, first.unfold)
    }
    if (pending.length === 0) isExclusive = false
    onSettled()
  }

  return {
    /** The number of requests that are not answered yet, and of answers that wait behind them. */
    waiting: (): number => pending.length,
    /** True while a request of this kind must not start. */
    blocks: (kind: RequestKind | undefined): boolean => pending.length > 0 && (isExclusive || !OVERLAPPING.has(kind)),
    /** Answers the next request now; `unfold` may answer several. */
    answer: (kind: ReplyKind, response: unknown, unfold?: Unfold): void => {
      if (pending.length === 0) put(kind, response, unfold)
      else pending.push({ kind, unfold, response, answered: true })
    },
    /** Does so when `response` settles. A rejection is fatal. */
    answerLater: (kind: RequestKind, response: PromiseLike<unknown>, unfold?: Unfold): void => {
      const reply: PendingReply = { kind, unfold, response: undefined, answered: false }
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
