import { startWorkerThread, type WorkerThread, type WorkerThreadOptions } from '../base/workerThread.ts'

/** What the chain says of one deploy_libeni proposal, in plain values that can be sent to the worker thread. */
export interface LibraryJob {
  /** The proposal's id, base64. */
  readonly id: string
  readonly name: string
  readonly version: string
  /** The URLs for this node's operating system, in the proposal's order; empty when the proposal has no file for it. */
  readonly urls: readonly string[]
  /** The MD5 that the file must have, in lower-case hex. */
  readonly md5: string
  /** The proposal is open or not yet due: `stage`. It is approved and due: `deploy`. Rejected or expired: `drop`. */
  readonly goal: 'stage' | 'deploy' | 'drop'
  /** When the proposal is due, in ms of Unix time. It is an estimate when the proposal names a height. */
  readonly dueMs: number
}

/** How far a library has come on this node. Source: protocol.md §7, deploy_libeni. */
export type LibraryStatus = 'init' | 'ready' | 'failed' | 'deployed' | 'collapsed' | 'rejected'

/** What the fetcher reports: a new status, or a try that failed. */
export type Report = { readonly library: LibraryJob } & (
  | { readonly type: 'status'; readonly status: LibraryStatus; readonly why?: string | undefined }
  | { readonly type: 'try'; readonly url?: string; readonly why: string }
)

/** The limits that every node keeps. Times are in ms, sizes in bytes. Source: protocol.md §7, deploy_libeni. */
export const LIMITS = {
  /** The longest random wait before the first try; at most a tenth of the time until the proposal is due. */
  delayMsMax: 60_000,
  /** The time for one try: name resolution, connection, redirects and body together. */
  tryMs: 60_000,
  /** The pause after every URL has failed once. It doubles each time they all fail, up to `pauseMsMax`. */
  pauseMs: 1000,
  pauseMsMax: 300_000,
  /** The most that all files in staging may take, including the one being downloaded. */
  stagingBytesMax: 1024 * 1024 * 1024,
} as const

/** The limits of a fetcher. Tests choose other ones. */
export type Limits = { readonly [K in keyof typeof LIMITS]: number }

/** The worker thread's start data: plain values only. */
export interface ThreadData {
  readonly home: string
  /** Addresses and CIDR blocks in the form that parseAllowList reads. */
  readonly allowAddresses: readonly string[]
  readonly limits: Limits
}

/**
 * Starts a fetcher in a thread of its own, to which jobs are posted. The first ones after each start must be those of
 * every library that is not rejected. A download that was under way at the end of the thread is begun again.
 */
export const startFetcherThread = (
  workerData: ThreadData,
  callbacks: Pick<WorkerThreadOptions<Report>, 'onMessage' | 'onFailed' | 'onRestarted'>,
): WorkerThread<readonly LibraryJob[]> =>
  startWorkerThread({
    file: new URL('./worker.ts', import.meta.url),
    workerData,
    heapMibMax: 128,
    restartMs: 60_000,
    ...callbacks,
  })
