import type { ConnectionContext } from './context.ts'
import type { AbciResponse, RequestKind } from './types.ts'
import { createReplyBuffer } from './wire.ts'

/** What a reply answers: a request of a known kind, or something that cannot be served. */
export type ReplyKind = RequestKind | 'exception'

/** The replies of one connection in the order of its requests, whatever their handlers take. */
export interface ReplyQueue {
  /** Requests started and not yet answered, and answers that wait behind them. */
  waiting(): number
  /** True when a request of this kind must not start yet. */
  blocks(kind: RequestKind | undefined): boolean
  /** Answers the next request now; an exception's response is its text. */
  answer(kind: ReplyKind, response: unknown): void
  /** The next request is answered when `response` settles; its rejection is fatal. */
  answerLater(kind: RequestKind, response: PromiseLike<unknown>): void
  /** Bytes ready to be sent. */
  size(): number
  /** The bytes ready to be sent, which the queue gives up. */
  take(): Uint8Array
}

// These change nothing, so they may overlap each other; all others start when everything before them is answered.
const OVERLAPPING: ReadonlySet<RequestKind | undefined> = new Set([
  undefined,
  'echo',
  'flush',
  'query',
  'loadSnapshotChunk',
])

interface Slot {
  readonly kind: ReplyKind
  response: unknown
  answered: boolean
}

/** An empty queue; `onSettled` is called whenever a later answer has come. */
export function createReplyQueue(context: ConnectionContext, onSettled: () => void): ReplyQueue {
  const replies = createReplyBuffer()
  const slots: Slot[] = []
  let alone = false // a request that changes something is not answered yet

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

  const settle = (slot: Slot, response: unknown): void => {
    slot.response = response
    slot.answered = true
    while (slots[0]?.answered === true) {
      const first = slots.shift() as Slot
      put(first.kind, first.response)
    }
    if (slots.length === 0) alone = false
    onSettled()
  }

  return {
    waiting: () => slots.length,
    blocks: (kind) => slots.length > 0 && (alone || !OVERLAPPING.has(kind)),
    answer: (kind, response) => {
      if (slots.length === 0) put(kind, response)
      else slots.push({ kind, response, answered: true })
    },
    answerLater: (kind, response) => {
      const slot: Slot = { kind, response: undefined, answered: false }
      slots.push(slot)
      alone = !OVERLAPPING.has(kind)
      response.then(
        (value) => settle(slot, value),
        (error: unknown) => context.fatal(error, kind),
      )
    },
    size: replies.size,
    take: replies.take,
  }
}
