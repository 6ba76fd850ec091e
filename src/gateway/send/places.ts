import { WAITING_AGAIN_MAX, WAITING_MAX, WAITING_OF_SENDER_MAX, WAITING_SIGNED_HERE_MAX } from '../http/limits.ts'
import { createTally } from '../http/tally.ts'
import { RpcError } from '../rpc/errors.ts'
import type { SentTx } from './broadcast.ts'

/** Who signed a transaction: its caller (`raw`) or this gateway; `again`: its bytes wait here already. */
type Source = 'raw' | 'signedHere' | 'again'

/** Returns which limit one more transaction would exceed; undefined when there is room. */
function fullOf({ raw, signedHere, again }: Readonly<Record<Source, number>>, source: Source): string | undefined {
  if (source === 'again') {
    return again < WAITING_AGAIN_MAX
      ? undefined
      : `${WAITING_AGAIN_MAX} calls that send waiting transactions again wait at this gateway`
  }
  if (raw + signedHere >= WAITING_MAX) return `${WAITING_MAX} transactions wait at this gateway`
  if (source === 'signedHere' && signedHere >= WAITING_SIGNED_HERE_MAX) {
    return `${WAITING_SIGNED_HERE_MAX} transactions that this gateway signs wait at it`
  }
  return undefined
}

const mempoolFull = (why: string, data?: unknown): RpcError =>
  new RpcError('mempoolFull', `${why}, try again later`, data)

/** Counts the transactions that wait at this gateway, and those who wait with them. */
export type Places = ReturnType<typeof createPlaces>

/** Creates the count. Its functions throw RpcError -32013 beyond the limits. */
export function createPlaces() {
  const taken: Record<Source, number> = { raw: 0, signedHere: 0, again: 0 }
  const bySender = createTally()
  return {
    /** Takes a place until the returned function is called. `data` goes into the error. */
    enter: (source: Source, data?: unknown): (() => void) => {
      const full = fullOf(taken, source)
      if (full !== undefined) throw mempoolFull(full, data)
      taken[source] += 1
      return () => {
        taken[source] -= 1
      }
    },
    /** Says that one more transaction of a sender has room. */
    needRoom: (sender: string): void => {
      if (bySender.of(sender) >= WAITING_OF_SENDER_MAX)
        throw mempoolFull(`${WAITING_OF_SENDER_MAX} transactions of ${sender} wait at this gateway`)
    },
    /** Counts a transaction of a sender until the returned function is called. */
    countSender: (sender: string): (() => void) => {
      bySender.add(sender)
      return () => bySender.remove(sender)
    },
    /** How many transactions and calls wait. */
    size: (): number => taken.raw + taken.signedHere + taken.again,
  }
}

/** Calls `release` once the transaction has ended or could not be sent. */
export async function releasing<S extends SentTx>(sending: Promise<S>, release: () => void): Promise<S> {
  try {
    const sent = await sending
    if ('refused' in sent) release()
    else sent.outcome.then(release, release)
    return sent
  } catch (error) {
    release()
    throw error
  }
}
