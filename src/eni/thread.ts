import { Worker } from 'node:worker_threads'
import { type Fetcher, LIMITS } from './fetcher.ts'
import type { Limits, Report } from './wanted.ts'

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
