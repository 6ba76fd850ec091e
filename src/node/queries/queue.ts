import type { QueryRequest, QueryResponse } from '../../abci/types.ts'
import { isListPath } from '../../app/query.ts'

/** The limits of queries. Times are in ms. Source: docs/operations.md, Limits and sizing. */
export const QUERY_LIMITS = {
  /** The longest time of reading for one answer. */
  answerMsMax: 2000,
  /** The longest wait for the thread. After it the caller has gone or will ask again. */
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
  /** After so many commits in a row during which a list was read, lists pause: until the next one, or `restMsMax`. */
  busyCommitsMax: 4,
  restMsMax: 1000,
} as const

/** The limits of a query thread. Tests choose other ones. */
export type QueryLimits = { readonly [K in keyof typeof QUERY_LIMITS]: number }

/** A query that waits, and the callback for its answer. */
export interface WaitingQuery {
  readonly request: QueryRequest
  readonly done: (response: QueryResponse) => void
}

interface Queued extends WaitingQuery {
  sinceMs: number
}

// The queries of one batch. With this many a message between threads costs little beside the answers.
const ROUND_MAX = 16
// The equal lists of one batch.
const EQUAL_MAX = 4

/** A token bucket that is refilled at this rate and holds one second's worth. The last `take` may exceed it. */
function createTokenBucket(bytesPerSecond: number) {
  let left = bytesPerSecond
  let atMs = 0
  const take = (bytes: number, nowMs: number): void => {
    left = Math.min(bytesPerSecond, left + ((nowMs - atMs) * bytesPerSecond) / 1000) - bytes
    atMs = nowMs
  }
  return {
    take,
    /** True while more was taken than has been refilled since. */
    isEmpty: (nowMs: number): boolean => {
      take(0, nowMs)
      return left <= 0
    },
  }
}

/**
 * Creates the queue of the queries that wait for the thread. Lists are read one at a time and limited by their cost,
 * and the other queries that wait are read between two lists. Times are in ms of one clock.
 */
export function createQueryQueue(limits: QueryLimits) {
  const { listBytesPerSecond, busyCommitsMax, restMsMax } = limits
  const bucket = createTokenBucket(listBytesPerSecond)
  const used = `whole lists are answered at ${listBytesPerSecond} bytes a second, and these are used up`
  const lists: Queued[] = []
  const others: Queued[] = []
  let listsTurn = true
  let restUntilMs = 0
  let busyCommits = 0

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
    /** Adds a query, or returns why it is refused. */
    add: (query: WaitingQuery, nowMs: number): string | undefined => {
      const isList = isListPath(query.request.path)
      if (isList && bucket.isEmpty(nowMs)) return used
      const [queue, max] = isList ? [lists, limits.listsWaitingMax] : [others, limits.waitingMax]
      if (queue.length >= max) return `${max} ${isList ? 'lists' : 'queries'} wait already`
      queue.push({ ...query, sinceMs: nowMs })
      return undefined
    },
    /**
     * Takes the queries to read next: equal queries of one list, or several other queries. Those that have waited too
     * long go to `refuse`.
     */
    take: (nowMs: number, refuse: (query: WaitingQuery, why: string) => void) => {
      const refuseLate = (queue: Queued[], what: string, msMax: number): void => {
        while (queue[0] !== undefined && queue[0].sinceMs < nowMs - msMax)
          refuse(queue.shift() as Queued, `the ${what} waited for more than ${msMax} ms`)
      }
      refuseLate(others, 'query', limits.waitMsMax)
      refuseLate(lists, 'list', limits.listWaitMsMax)
      while (lists[0] !== undefined && bucket.isEmpty(nowMs)) refuse(lists.shift() as Queued, used)
      const mayList = lists.length > 0 && nowMs >= restUntilMs
      const isList = mayList && (listsTurn || others.length === 0)
      listsTurn = !isList
      return { queries: isList ? takeList() : others.splice(0, ROUND_MAX), isList }
    },
    /** Restarts the clock of all waiting queries, because the time until the thread has started does not count. */
    begin: (nowMs: number): void => {
      for (const query of [...others, ...lists]) query.sinceMs = nowMs
    },
    takeAll: (): readonly WaitingQuery[] => [...others.splice(0), ...lists.splice(0)],
    /** Records the cost of a list. Returns true when lists pause now, until `committed` or for `restMsMax`. */
    listAnswered: (cost: number, nowMs: number): boolean => {
      bucket.take(cost, nowMs)
      if (busyCommits < busyCommitsMax) return false
      // A commit can write SQLite's WAL back only while no older state is being read.
      busyCommits = 0
      restUntilMs = nowMs + restMsMax
      return true
    },
    /** Records that a block was committed, and whether a list was being read. */
    committed: (duringList: boolean): void => {
      busyCommits = duringList ? busyCommits + 1 : 0
      if (!duringList) restUntilMs = 0
    },
  }
}
