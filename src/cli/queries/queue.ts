import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import { isListPath } from '../../app/query.ts'

/** The limits of queries. Times are in ms. Source: docs/operations.md, Limits and sizing. */
export const QUERY_LIMITS = {
  /** The longest time of reading for one answer. */
  answerMsMax: 2000,
  /**
   * The longest wait for the thread. A query that waited longer is refused, as its caller has gone or will ask again.
   */
  waitMsMax: 2000,
  /** The longest wait of a list. It is shorter because replies leave in order, so that later queries wait with it. */
  listWaitMsMax: 500,
  /** A thread that gives no answer, or does not start, within this time is replaced. */
  silentMsMax: 10_000,
  startMsMax: 60_000,
  /** The most queries and the most lists that may wait. */
  waitingMax: 1024,
  listsWaitingMax: 16,
  /** The rate at which lists are answered, in bytes of cost per second. */
  listBytesPerSecond: 16 * 1024 * 1024,
  /**
   * When this many blocks in a row were committed while a list was read, lists pause until the next commit, or for
   * `restMsMax`.
   */
  busyCommitsMax: 4,
  restMsMax: 1000,
} as const

/** The limits of a query thread. Tests choose other ones. */
export type QueryLimits = { readonly [K in keyof typeof QUERY_LIMITS]: number }

/** A token bucket that limits how much is answered in lists. Times are in ms of one clock. */
export interface TokenBucket {
  /** True while more was taken than has been refilled since. */
  isEmpty(nowMs: number): boolean
  take(bytes: number, nowMs: number): void
  /** The reason for callers that are refused. */
  readonly why: string
}

/**
 * Creates a bucket that is refilled at this rate and holds one second's worth. The last call of `take` may exceed what
 * it holds.
 */
export function createTokenBucket(bytesPerSecond: number): TokenBucket {
  let left = bytesPerSecond
  let atMs = 0
  const refill = (nowMs: number): void => {
    left = Math.min(bytesPerSecond, left + ((nowMs - atMs) * bytesPerSecond) / 1000)
    atMs = nowMs
  }
  return {
    isEmpty: (nowMs) => {
      refill(nowMs)
      return left <= 0
    },
    take: (bytes, nowMs) => {
      refill(nowMs)
      left -= bytes
    },
    why: `whole lists are answered at ${bytesPerSecond} bytes a second, and these are used up`,
  }
}

/** A query that waits, and the callback for its answer. */
export interface WaitingQuery {
  readonly request: QueryRequest
  readonly done: (response: QueryResponse) => void
}

interface Queued extends WaitingQuery {
  sinceMs: number
}

/** The queries that wait for the thread. Times are in ms of one clock. */
export interface QueryQueue {
  /** Adds a query, or returns why it is refused. */
  add(query: WaitingQuery, nowMs: number): string | undefined
  /**
   * Takes the queries to read next: equal queries of one list, or several other queries. Those that have waited too
   * long go to `refuse`.
   */
  take(
    nowMs: number,
    refuse: (query: WaitingQuery, why: string) => void,
  ): { readonly queries: readonly WaitingQuery[]; readonly isList: boolean }
  /** Restarts the clock of all waiting queries, because the time until the thread has started does not count. */
  begin(nowMs: number): void
  /** Takes all queries. */
  takeAll(): readonly WaitingQuery[]
  /** Records the cost of a list. Returns true when lists pause now, until `committed` or for `restMsMax`. */
  listAnswered(cost: number, nowMs: number): boolean
  /** Records that a block was committed, and whether a list was being read. */
  committed(duringList: boolean): void
}

// The queries of one batch. With this many a message between threads costs little beside the answers.
const ROUND_MAX = 16
// The equal lists of one batch.
const EQUAL_MAX = 4

/**
 * Creates an empty queue. Lists are read one at a time and limited by their cost, and the other queries that wait are
 * read between two lists.
 */
export function createQueryQueue(limits: QueryLimits): QueryQueue {
  const { waitMsMax, listWaitMsMax, waitingMax, listsWaitingMax, listBytesPerSecond, busyCommitsMax, restMsMax } =
    limits
  const bucket = createTokenBucket(listBytesPerSecond)
  const lists: Queued[] = []
  const others: Queued[] = []
  let listsTurn = true
  let restUntilMs = 0
  let busyCommits = 0

  const dropLate = (queue: Queued[], sinceMs: number, refuse: (query: WaitingQuery) => void): void => {
    while (queue[0] !== undefined && queue[0].sinceMs < sinceMs) refuse(queue.shift() as Queued)
  }
  /**
   * Takes the list that has waited longest and some equal ones. It is read once, and the next ones wait until its cost
   * is known.
   */
  const takeList = (): WaitingQuery[] => {
    const path = lists[0]?.request.path
    const equal = lists.filter(({ request }) => request.path === path).slice(0, EQUAL_MAX)
    lists.splice(0, lists.length, ...lists.filter((one) => !equal.includes(one)))
    return equal
  }

  return {
    add: (query, nowMs) => {
      const isList = isListPath(query.request.path)
      if (isList && bucket.isEmpty(nowMs)) return bucket.why
      const [queue, max] = isList ? [lists, listsWaitingMax] : [others, waitingMax]
      if (queue.length >= max) return `${max} ${isList ? 'lists' : 'queries'} wait already`
      queue.push({ ...query, sinceMs: nowMs })
      return undefined
    },
    take: (nowMs, refuse) => {
      dropLate(others, nowMs - waitMsMax, (query) => refuse(query, `the query waited for more than ${waitMsMax} ms`))
      dropLate(lists, nowMs - listWaitMsMax, (query) =>
        refuse(query, `the list waited for more than ${listWaitMsMax} ms`),
      )
      while (lists[0] !== undefined && bucket.isEmpty(nowMs)) refuse(lists.shift() as Queued, bucket.why)
      const mayList = lists.length > 0 && nowMs >= restUntilMs
      const isList = mayList && (listsTurn || others.length === 0)
      listsTurn = !isList
      return { queries: isList ? takeList() : others.splice(0, ROUND_MAX), isList }
    },
    begin: (nowMs) => {
      for (const query of [...others, ...lists]) query.sinceMs = nowMs
    },
    takeAll: () => [...others.splice(0), ...lists.splice(0)],
    listAnswered: (cost, nowMs) => {
      bucket.take(cost, nowMs)
      if (busyCommits < busyCommitsMax) return false
      // A commit can write SQLite's WAL back only while no older state is being read.
      busyCommits = 0
      restUntilMs = nowMs + restMsMax
      return true
    },
    committed: (duringList) => {
      busyCommits = duringList ? busyCommits + 1 : 0
      if (!duringList) restUntilMs = 0
    },
  }
}
