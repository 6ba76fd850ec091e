import type { AppLogger } from '../../app/context.ts'
import { startWorkerThread } from '../../base/workerThread.ts'

/** The worker thread's start data: the state's database, the folder of snapshots, and how many are kept. */
export interface MakerOptions {
  readonly path: string
  readonly folder: string
  readonly keep: number
}

/** A request for the snapshot of the height that is committed now. The caller waits at `flag`. */
export interface MakerRequest {
  readonly height: number
  readonly flag: Int32Array<SharedArrayBuffer>
}

/** A message of the thread. `late`: the caller no longer waited when the thread began. */
export type MakerMessage =
  | { readonly kind: 'ready' }
  | { kind: 'made'; height: number; bytes: number; chunks: number; ms: number }
  | { readonly kind: 'late'; readonly height: number }
  | { readonly kind: 'failed'; readonly height: number; readonly why: string }

/** The values of the flag. It changes only once, from `waiting`. */
export const MAKER_FLAG = { waiting: 0, begun: 1, givenUp: 2 } as const

/** How long a commit waits for the thread to begin, in ms. The thread is idle, so it needs no disk for this. */
const BEGIN_MS_MAX = 2000

/** The thread is started so many blocks before a snapshot is due: until then it would only take memory. */
const LOAD_BLOCKS = 500

/**
 * Makes a snapshot every `interval` blocks in a thread, which keeps the newest `keep` of them and reads through its own
 * connection. A failure never stops the chain: it is logged, and that height has no snapshot. A height that is due while
 * the previous snapshot is still being made has none either. `height`: that of the state at the start.
 */
export function startSnapshotMaker({
  interval,
  height: heightNow,
  logger,
  ...options
}: MakerOptions & { readonly interval: number; readonly height: number; readonly logger: AppLogger }) {
  let state: 'starting' | 'ready' | 'busy' | 'closed' = 'starting'
  const start = () =>
    startWorkerThread<MakerRequest, MakerMessage>({
      file: new URL('./worker.ts', import.meta.url),
      workerData: options satisfies MakerOptions,
      tellsLoaded: true,
      restartMs: 10_000,
      onMessage: ({ kind, ...fields }) => {
        state = 'ready'
        if (kind === 'made') logger.info(fields, 'a snapshot was made')
        else if (kind === 'failed') logger.error(fields, 'a snapshot could not be made')
      },
      onFailed: (err) => {
        state = 'starting'
        logger.error({ err }, 'the snapshot thread failed')
      },
    })
  let thread: ReturnType<typeof start> | undefined
  const load = (height: number): void => {
    if (interval - (height % interval) <= LOAD_BLOCKS) thread ??= start()
  }
  load(heightNow)

  return {
    /** Begins the snapshot of the height just committed, if one is due. Returns when the thread is reading that state. */
    beginAt: (height: number): void => {
      if (state !== 'closed') load(height)
      if (height % interval !== 0) return
      if (thread === undefined || state !== 'ready')
        return logger.info({ height, state }, 'no snapshot of this height: the snapshot thread is busy')
      const flag = new Int32Array(new SharedArrayBuffer(4))
      thread.post({ height, flag })
      state = 'busy'
      Atomics.wait(flag, 0, MAKER_FLAG.waiting, BEGIN_MS_MAX)
      const before = Atomics.compareExchange(flag, 0, MAKER_FLAG.waiting, MAKER_FLAG.givenUp)
      if (before === MAKER_FLAG.waiting)
        logger.error({ height }, `no snapshot of this height: it did not begin within ${BEGIN_MS_MAX} ms`)
    },
    /** Ends the thread. An unfinished snapshot is removed at the next start. */
    close: () => {
      state = 'closed'
      return thread?.close()
    },
  }
}
