import { availableParallelism } from 'node:os'
import type { AppLogger, SignaturesAhead } from '../../app/context.ts'
import { tailOf } from '../../app/mempool.ts'
import { startWorkerThread } from '../../base/workerThread.ts'
import { isSignedBySender } from '../../modules/isSignedBySender.ts'
import { UserError } from '../errors.ts'
import { openRing, RING_BYTES, SLOT_BYTES, SLOTS } from './ring.ts'

/** The fewest cores on which `auto` starts threads: on two they gained nothing (decision record 0025). */
export const CORES_MIN = 4
/**
 * The threads that `auto` starts. One alone verifies faster than the application does all the rest of a transfer, and each
 * takes 25 MB.
 */
export const AUTO_THREADS = 2
/** By the time that a thread has woken up, the application has verified a single transaction itself. */
const TXS_MIN = 2

/** How many threads `auto` means on this machine. */
export const autoThreads = (cores: number = availableParallelism()): number => (cores < CORES_MIN ? 0 : AUTO_THREADS)

/** The most threads that can be chosen. */
export const VERIFY_THREADS_MAX = 16

/** Reads a number of threads. Throws a UserError that names the flag. */
export function parseVerifyThreads(text: string, flag: string): number {
  if (text === 'auto') return autoThreads()
  if (/^\d{1,2}$/.test(text) && Number(text) <= VERIFY_THREADS_MAX) return Number(text)
  throw new UserError(
    `${flag}: expected auto, or a whole number from 0 to ${VERIFY_THREADS_MAX}, got ${JSON.stringify(text)}`,
  )
}

interface SignaturePoolOptions {
  /** How many threads; with 0 there is no pool. */
  readonly threads: number
  readonly logger: AppLogger
  /** What the threads run. Tests choose another file. */
  readonly file?: URL
}

/** Verifies signatures in threads of its own. */
export interface SignaturePool extends SignaturesAhead {
  /** How many verdicts of the threads the application has used. */
  readonly used: () => number
  /** Ends the threads at once. */
  readonly close: () => Promise<void>
}

/**
 * Starts threads that verify the signatures of transactions before the application needs them. Nothing depends on them:
 * what they have not begun, or do not finish soon, the application verifies by the same function. If one of them fails,
 * all of them end, and the application goes on alone. Source: decision record 0025.
 */
export function startSignaturePool({ threads, logger, file }: SignaturePoolOptions): SignaturePool | undefined {
  if (threads === 0) return undefined
  const memory = new SharedArrayBuffer(RING_BYTES)
  const ring = openRing(memory)
  /** The slots by the tails of their transactions, and the tails by slot. */
  const slots = new Map<number, number>()
  const tails = new Int32Array(SLOTS)
  logger.info({ threads }, 'signatures are verified ahead of the application')
  let isOn = true
  let used = 0

  const close = async (): Promise<void> => {
    isOn = false
    await Promise.all(workers.map((worker) => worker.close()))
  }
  const onFailed = (err: Error): void => {
    logger.error({ err }, 'a thread that verifies signatures failed: the application verifies them alone')
    void close()
  }
  const workers = Array.from({ length: threads }, () =>
    startWorkerThread<never, never>({
      file: file ?? new URL('./worker.ts', import.meta.url),
      name: 'signatures',
      workerData: memory,
      heapMibMax: 64,
      restartMs: 0,
      onMessage: () => undefined,
      onFailed,
    }),
  )

  /** False when the ring is full. */
  const put = (tx: Uint8Array): boolean => {
    if (tx.length > SLOT_BYTES) return true
    const slot = ring.put(tx)
    if (slot === undefined) return false
    // What nobody has asked for is forgotten with its slot.
    const before = tails[slot] as number
    if (slots.get(before) === slot) slots.delete(before)
    const tail = tailOf(tx)
    tails[slot] = tail
    slots.set(tail, slot)
    return true
  }

  return {
    handOver: (txs) => {
      if (isOn && txs.length >= TXS_MIN) {
        txs.every(put)
        ring.announce()
      }
    },
    isSigned: (tx, bytes) => {
      const slot = isOn ? slots.get(tailOf(bytes)) : undefined
      if (slot === undefined || !ring.holds(slot, bytes)) return isSignedBySender(tx)
      slots.delete(tailOf(bytes))
      const verdict = ring.take(slot)
      if (verdict === undefined) return isSignedBySender(tx)
      used++
      return verdict
    },
    used: () => used,
    close,
  }
}
