import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import { isListPath } from '../../app/query.ts'

/** The limits of queries. Source: docs/operations.md, Limits and sizing. */
export const QUERY_LIMITS = {
  /** Reading for one answer. */
  answerMsMax: 2000,
  /** WaitingQuery for the thread; who waited longer is answered unread: the caller has gone, or will ask again. */
  waitMsMax: 2000,
  /** The same for lists: replies leave in order, so whoever asked after one waits with it. */
  listWaitMsMax: 500,
  /** Without an answer for so long the thread is ended and another one started; the same for its start. */
  silentMsMax: 10_000,
  startMsMax: 60_000,
  /** Queries that wait, and lists that do. */
  waitingMax: 1024,
  listsWaitingMax: 16,
  /** Lists are answered until a second's allowance is used up; the last one may go beyond it. */
  listBytesPerSecond: 16 * 1024 * 1024,
  /**
   * After so many blocks in a row that were committed while a list was read, lists rest until the next commit, for this
   * long at most.
   */
  busyCommitsMax: 4,
  restMsMax: 1000,
} as const

/** The limits of one thread: tests choose others. */
export type QueryLimits = { readonly [K in keyof typeof QUERY_LIMITS]: number }

/** How much may be answered in whole lists. Times are ms of one clock. */
export interface TokenBucket {
  /** True while what was used is more than has come back since. */
  isEmpty(nowMs: number): boolean
  use(bytes: number, nowMs: number): void
  /** What whoever is refused is onMessage. */
  readonly why: string
}

/**
 * A bucket of so many bytes a second; after a rest a second's worth may be used at once, and the last use may go beyond
 * it.
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
    use: (bytes, nowMs) => {
      refill(nowMs)
      left -= bytes
    },
    why: `whole lists are answered at ${bytesPerSecond} bytes a second, and these are used up`,
  }
}

/** A query, and who waits for its answer. */
export interface WaitingQuery {
  readonly request: QueryRequest
  readonly done: (response: QueryResponse) => void
}

interface Queued extends WaitingQuery {
  sinceMs: number
}

/** The queries that wait, and whose turn it is. Times are ms of one clock. */
export interface QueryQueue {
  /** Lets a query wait; or says why it may not. */
  add(query: WaitingQuery, nowMs: number): string | undefined
  /**
   * Takes what is read next: one list for all that ask it, or several others. What may wait no longer goes to `refuse`
   * with the reason.
   */
  take(
    nowMs: number,
    refuse: (query: WaitingQuery, why: string) => void,
  ): { readonly queries: readonly WaitingQuery[]; readonly isList: boolean }
  /** The thread has begun: what waits has waited for its start, which does not count. */
  begin(nowMs: number): void
  /** Takes all. */
  takeAll(): readonly WaitingQuery[]
  /** A list was answered at this cost. True when lists rest now, until `committed` or restMsMax later. */
  listAnswered(cost: number, nowMs: number): boolean
  /** A block was committed; `duringList` while a list was read. */
  committed(duringList: boolean): void
}

// Queries that are read in one go: with more of them a message between threads costs little beside the answers.
const ROUND_MAX = 16
// Equal lists of one batch.
const EQUAL_MAX = 4

/**
 * An empty queue. Lists are read one at a time, paced by what they cost, and the other queries that wait go before the
 * next one.
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
   * The list that has waited longest, and some that ask the same: it is read once, and the bucket looks at what they
   * cost before more.
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
      bucket.use(cost, nowMs)
      if (busyCommits < busyCommitsMax) return false
      // A commit writes SQLite's WAL back only where no older state is being read: it gets its turn.
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
