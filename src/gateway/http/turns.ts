import { PIECE_BYTES } from './limits.ts'

interface Waiting {
  readonly bytes: number
  readonly goOn: () => void
}

// Of all gateways of this process: they share its event loop.
const waiting: Waiting[] = []
let left = PIECE_BYTES
let isScheduled = false

/** Begins the next turn of the event loop for those who wait, as many as may send in it. */
function begin(): void {
  left = PIECE_BYTES
  while (left > 0) {
    const next = waiting.shift()
    if (next === undefined) break
    left -= next.bytes
    next.goOn()
  }
  isScheduled = left < PIECE_BYTES
  if (isScheduled) setImmediate(begin)
}

/**
 * Asks to send so many bytes, on whatever connection. Returns nothing when they may go at once. Otherwise it resolves in a
 * later turn of the event loop: in each, PIECE_BYTES go and the last message that is more, first come, first served. The
 * system takes megabytes for a connection, also for one that nobody reads, and whatever is sent to many connections in one
 * turn keeps all callers waiting.
 */
export function turnFor(bytes: number): Promise<void> | undefined {
  if (!isScheduled) {
    isScheduled = true
    setImmediate(begin)
  }
  if (left > 0 && waiting.length === 0) {
    left -= bytes
    return undefined
  }
  return new Promise((goOn) => waiting.push({ bytes, goOn }))
}
