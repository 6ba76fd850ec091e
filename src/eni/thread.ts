import { Worker } from 'node:worker_threads'
import { type Fetcher, LIMITS } from './fetcher.ts'

/** What the node keeps of one deploy_libeni proposal: in a worker thread's message, so plain values. */
export interface Wanted {
  /** The proposal's id, base64. */
  readonly id: string
  readonly name: string
  readonly version: string
  /** Of this node's OS, in the proposal's order; none when the proposal has no file for it. */
  readonly urls: readonly string[]
  /** Lower-case hex. */
  readonly md5: string
  /**
   * stage: open, or approved before its point. deploy: approved, and its point is reached. drop: rejected or expired.
   */
  readonly goal: 'stage' | 'deploy' | 'drop'
  /** When the proposal's point comes, in ms of Unix time; estimated where the point is a height. */
  readonly dueMs: number
}

/** What became of a library on this node. Source: protocol.md §7, deploy_libeni. */
export type LibraryStatus = 'init' | 'ready' | 'failed' | 'deployed' | 'collapsed' | 'rejected'

/** What the fetcher tells. */
export type Report =
  | {
      readonly type: 'status'
      readonly library: Wanted
      readonly status: LibraryStatus
      readonly why?: string | undefined
    }
  | { readonly type: 'try'; readonly library: Wanted; readonly url?: string; readonly why: string }

/** Times in ms, sizes in bytes. */
export interface Limits {
  /**
   * A node waits up to so long, and up to a tenth of the time until the point, before its first try: how long is
   * random.
   */
  readonly delayMsMax: number
  /** One try: name server, connection, redirects and body together. */
  readonly tryMs: number
  /** After the first round in which every URL failed; each later one is twice as long, up to pauseMsMax. */
  readonly pauseMs: number
  readonly pauseMsMax: number
  /** All of staging, the file that grows included. */
  readonly stagingBytesMax: number
}

// As a source, and as it is built.
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('./worker.ts', import.meta.url)
  : new URL('./worker.js', import.meta.url)

/** Memory that a fetch may take, in MiB: what goes beyond ends the thread, not the node. */
const HEAP_MIB_MAX = 128

/** What the thread is started with: plain values. */
export interface ThreadData {
  readonly home: string
  /** Addresses and CIDR blocks, as parseAllowList takes them. */
  readonly allowAddresses: readonly string[]
  readonly limits: Limits
}

/** What a fetcher in a thread of its own is made of. */
export interface ThreadOptions extends Omit<ThreadData, 'limits'> {
  readonly limits?: Limits
  readonly report: (report: Report) => void
  /** The thread has ended by itself: a bug, or its memory. */
  readonly onEnd: (error: Error) => void
}

/**
 * Starts a fetcher in a thread. `close` ends it wherever it stands; a file that was growing is fetched anew by the next
 * one.
 */
export function startFetcher({
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
    want: (libraries) => worker.postMessage(libraries),
    close: async () => {
      await worker.terminate()
    },
  }
}
