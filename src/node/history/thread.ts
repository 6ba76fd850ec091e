import { lstatSync } from 'node:fs'
import type { AppLogger, ExecutedBlock } from '../../app/context.ts'
import { startWorkerThread } from '../../base/workerThread.ts'
import { openJournal } from '../../store/index.ts'
import { historyBlockCodec } from './block.ts'
import { executedBlock } from './executed.ts'

/** The worker thread's start data: the databases of the state and of the index, and the chain that they are of. */
export interface HistoryWorkerOptions {
  readonly statePath: string
  readonly path: string
  readonly chainId: string
}

/**
 * A message of the thread. `doneTo`: the height up to which the index is on disk; after `done` the thread waits.
 * `begunAnew`: blocks were missing, and the index begins at this height. `unusable`: what was there was removed.
 */
export type HistoryWorkerMessage =
  | { readonly kind: 'done' | 'indexed'; readonly doneTo: number }
  | { readonly kind: 'begunAnew'; readonly height: number }
  | { readonly kind: 'unusable'; readonly why: string }

interface HistoryIndexOptions extends HistoryWorkerOptions {
  readonly logger: AppLogger
  /** Replaces JOURNAL_BYTES_MAX, for tests. */
  readonly journalBytesMax?: number
}

/**
 * The most bytes of blocks that wait in the journal. Beyond them the index has failed for long: what waits is dropped,
 * and the index begins anew behind it.
 */
const JOURNAL_BYTES_MAX = 512 * 1024 * 1024

const RESTART_MS = 10_000

/**
 * What the journal holds that the index may not have, oldest first. `before`: all that was in it at the start, up to
 * that height.
 */
function createBacklog(before: { readonly height: number; readonly bytes: number }, bytesMax: number) {
  const waiting = [before]
  let { bytes } = before
  return {
    /** Adds a block. Returns true when the backlog is too long and was dropped. */
    add: (height: number, length: number): boolean => {
      waiting.push({ height, bytes: length })
      bytes += length
      if (bytes <= bytesMax) return false
      waiting.splice(0, waiting.length - 1)
      bytes = length
      return true
    },
    /** Takes out what the index has, at once: it may be the blocks of days. */
    doneTo: (height: number): void => {
      const end = waiting.findIndex((one) => one.height > height)
      for (const one of waiting.splice(0, end < 0 ? waiting.length : end)) bytes -= one.bytes
    },
  }
}

/**
 * Starts the thread that writes the index of histories. A block goes into the journal of the state's file in the
 * transaction that commits it, and leaves it after the thread has said that the index has it on disk: so the index is
 * whole after any kill, and no block waits for it. Its failures never stop the chain: they are logged, and another thread
 * is started. Source: decision record 0027.
 */
export function startHistoryIndex({
  statePath,
  path,
  chainId,
  logger,
  journalBytesMax = JOURNAL_BYTES_MAX,
}: HistoryIndexOptions) {
  const journal = openJournal(statePath)
  const { head } = journal.span()
  const backlog = createBacklog({ height: head, bytes: journal.bytes() }, journalBytesMax)
  journal.close()
  if (head > 0 && lstatSync(path, { throwIfNoEntry: false }) === undefined)
    logger.info({ head }, 'the index of histories begins with the next block: svcd index rebuild adds the older ones')
  let doneTo = 0
  let retainHeight = 0
  // True while the thread works. It is told of commits afterwards.
  let isBusy = true
  let isBehind = false

  const next = (): void => {
    isBehind = isBusy
    if (isBusy) return
    isBusy = true
    thread.post(retainHeight)
  }
  const thread = startWorkerThread<number, HistoryWorkerMessage>({
    file: new URL('./worker.ts', import.meta.url),
    workerData: { statePath, path, chainId } satisfies HistoryWorkerOptions,
    tellsLoaded: true,
    restartMs: RESTART_MS,
    onMessage: (message) => {
      if (message.kind === 'unusable') {
        logger.error({ path, why: message.why }, 'the index of histories was unusable and begins anew')
        return
      }
      if (message.kind === 'begunAnew') {
        logger.info(
          { height: message.height },
          'the index of histories begins at this height: svcd index rebuild adds older ones',
        )
        return
      }
      doneTo = message.doneTo
      backlog.doneTo(doneTo)
      isBusy = message.kind !== 'done'
      if (!isBusy && isBehind) next()
    },
    onFailed: (err) => {
      isBusy = true
      logger.error({ err }, 'the thread of the index of histories failed: another one is started')
    },
  })

  return {
    /** The height up to which blocks are in the index, as the thread last said. */
    height: () => doneTo,
    journal: (executed: ExecutedBlock) => {
      const { height } = executed
      const block = historyBlockCodec.encode(executedBlock(executed))
      if (!backlog.add(height, block.length)) return { block, doneTo }
      logger.error(
        { height },
        'the index of histories does not follow: what waits for it is dropped, and it begins anew',
      )
      return { block, doneTo: height - 1 }
    },
    committed: (retain: number): void => {
      retainHeight = retain
      next()
    },
    close: thread.close,
  }
}
