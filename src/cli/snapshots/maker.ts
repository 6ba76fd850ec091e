import { Worker } from 'node:worker_threads'
import type { AppLogger } from '../../app/context.ts'

/** What the thread is started with: the state's database, the folder of snapshots, and how many are kept. */
export interface MakerOptions {
  readonly path: string
  readonly folder: string
  readonly keep: number
}

/** Asks for the snapshot of the height that is committed now; whoever asks waits at `flag`. */
export interface MakerRequest {
  readonly height: number
  readonly flag: Int32Array<SharedArrayBuffer>
}

/** What the thread tells. `late`: nobody waited any more when it came to it. */
export type MakerMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'made'
      readonly height: number
      readonly bytes: number
      readonly chunks: number
      readonly ms: number
    }
  | { readonly kind: 'late'; readonly height: number }
  | { readonly kind: 'failed'; readonly height: number; readonly why: string }

/** Values of the flag: it leaves `waiting` once. */
export const MAKER_FLAG = { waiting: 0, begun: 1, givenUp: 2 } as const

/** Makes snapshots beside the chain. */
export interface SnapshotMaker {
  /**
   * Begins the snapshot of the height just committed, when it is one of the interval; returns once the worker reads
   * that very state.
   */
  readonly beginAt: (height: number) => void
  /** Ends the worker; what it was making is removed at the next start. */
  readonly close: () => Promise<void>
}

/** How long a commit waits, in ms, for the worker to begin: it is idle, so this is a thread's turn, not a disk's. */
const BEGIN_MS_MAX = 2000

// As sources, or as they were built.
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('./worker.ts', import.meta.url)
  : new URL('./worker.js', import.meta.url)

/**
 * Starts the thread that makes a snapshot every `interval` blocks and keeps the `keep` newest. It reads through a
 * connection of its own. No failure of it stops the chain: that is logged and this height has no snapshot, as when the
 * one before is still being made.
 */
export function startSnapshotMaker({
  interval,
  logger,
  ...options
}: MakerOptions & { readonly interval: number; readonly logger: AppLogger }): SnapshotMaker {
  let worker: Worker | undefined
  let state: 'starting' | 'ready' | 'busy' = 'starting'

  const onMessage = (message: MakerMessage): void => {
    state = 'ready'
    const { kind, ...fields } = message
    if (kind === 'made') logger.info(fields, 'a snapshot was made')
    else if (kind === 'failed') logger.error(fields, 'a snapshot could not be made')
  }
  const begin = (): void => {
    state = 'starting'
    const own = new Worker(WORKER, { workerData: options satisfies MakerOptions })
    worker = own
    own.on('message', onMessage).on('error', (err) => logger.error({ err }, 'the maker of snapshots failed'))
    own.once('exit', () => {
      if (worker === own) worker = undefined
    })
    own.unref()
  }
  begin()

  return {
    beginAt: (height) => {
      if (height % interval !== 0) return
      if (worker === undefined) begin()
      if (state !== 'ready') return logger.info({ height, state }, 'no snapshot of this height: the maker is at work')
      const flag = new Int32Array(new SharedArrayBuffer(4))
      worker?.postMessage({ height, flag } satisfies MakerRequest)
      state = 'busy'
      Atomics.wait(flag, 0, MAKER_FLAG.waiting, BEGIN_MS_MAX)
      const before = Atomics.compareExchange(flag, 0, MAKER_FLAG.waiting, MAKER_FLAG.givenUp)
      if (before === MAKER_FLAG.waiting)
        logger.error({ height }, `no snapshot of this height: it was not begun within ${BEGIN_MS_MAX} ms`)
    },
    close: async () => {
      const own = worker
      worker = undefined
      await own?.terminate()
    },
  }
}
