/** The limits of queries. Source: docs/operations.md, Queries. */
export const QUERY_LIMITS = {
  /** Reading for one answer. */
  answerMsMax: 2000,
  /** Waiting for the thread; who waited longer is answered unread: the caller has gone, or will ask again. */
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
