import { Worker } from 'node:worker_threads'
import { type Fetcher, LIMITS } from './fetcher.ts'

/**
 * What the chain says of one deploy_libeni proposal. It is sent to the worker thread, so it holds plain values only.
 */
export interface LibraryJob {
  /** The proposal's id, base64. */
  readonly id: string
  readonly name: string
  readonly version: string
  /** The URLs for this node's operating system, in the proposal's order; empty when the proposal has no file for it. */
  readonly urls: readonly string[]
  /** The MD5 that the file must have, in lower-case hex. */
  readonly md5: string
  /**
   * `stage`: the proposal is open, or approved but not yet due. `deploy`: it is approved and due. `drop`: it was
   * rejected or has expired.
   */
  readonly goal: 'stage' | 'deploy' | 'drop'
  /** When the proposal is due, in ms of Unix time. It is an estimate when the proposal names a height. */
  readonly dueMs: number
}

/** How far a library has come on this node. Source: protocol.md §7, deploy_libeni. */
export type LibraryStatus = 'init' | 'ready' | 'failed' | 'deployed' | 'collapsed' | 'rejected'

/** What the fetcher reports: a new status, or a try that failed. */
export type Report =
  | {
      readonly type: 'status'
      readonly library: LibraryJob
      readonly status: LibraryStatus
      readonly why?: string | undefined
    }
  | { readonly type: 'try'; readonly library: LibraryJob; readonly url?: string; readonly why: string }

/** The limits of a fetcher. Times are in ms, sizes in bytes. */
export interface Limits {
  /**
   * The longest random wait before the first try. The wait is also at most a tenth of the time until the proposal is
   * due.
   */
  readonly delayMsMax: number
  /** The time for one try: name resolution, connection, redirects and body together. */
  readonly tryMs: number
  /** The pause after every URL has failed once. It doubles each time they all fail, up to `pauseMsMax`. */
  readonly pauseMs: number
  readonly pauseMsMax: number
  /** The most that all files in staging may take, including the one being downloaded. */
  readonly stagingBytesMax: number
}

// The sources run as TypeScript, the published package as JavaScript.
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('./worker.ts', import.meta.url)
  : new URL('./worker.js', import.meta.url)

/** The most heap memory that the thread may use, in MiB. A fetch that needs more ends the thread, not the node. */
const HEAP_MIB_MAX = 128

/** The worker thread's start data: plain values only. */
export interface ThreadData {
  readonly home: string
  /** Addresses and CIDR blocks in the form that parseAllowList reads. */
  readonly allowAddresses: readonly string[]
  readonly limits: Limits
}

/** Options of `startFetcherThread`. */
export interface ThreadOptions extends Omit<ThreadData, 'limits'> {
  readonly limits?: Limits
  readonly report: (report: Report) => void
  /** Called when the thread has ended by itself, through a bug or by running out of memory. */
  readonly onEnd: (error: Error) => void
}

/**
 * Starts a fetcher in a thread of its own. `close` ends it at once; the next one starts over with a file that was not
 * complete.
 */
export function startFetcherThread({
  home,
  allowAddresses,
  limits = LIMITS,
  report,
  onEnd,
}: ThreadOptions): Fetcher & { readonly close: () => Promise<void> } {
  const workerData: ThreadData = { home, allowAddresses, limits }
  const resourceLimits = { maxOldGenerationSizeMb: HEAP_MIB_MAX }
  const worker = new Worker(WORKER, { workerData, resourceLimits })
  worker.on('message', report)
  worker.on('error', onEnd)
  return {
    update: (libraries) => worker.postMessage(libraries),
    close: async () => {
      await worker.terminate()
    },
  }
}
