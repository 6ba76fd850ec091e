import { tooMany } from './errors.ts'
import {
  LIST_OVERHEAD_BYTES,
  LIST_WAIT_MS_MAX,
  LISTS_ASKED_MAX,
  LISTS_KEPT_BYTES_MAX,
  LISTS_WAITING_MAX,
} from './limits.ts'

/** A list as the node answered it. `json` is shared by everybody who asked, so nobody may change it. */
export interface ListAnswer {
  readonly height: number
  readonly json: Uint8Array
}

/** Lists that callers share. */
export interface Lists {
  /**
   * The list of a query path, as new as the last head that `onHeight` was told of. Throws RpcError -32015 when too many
   * lists wait.
   */
  readonly read: (path: string) => Promise<ListAnswer>
  /** Told of a new head: who asks from now on wants a list of this head. */
  readonly onHeight: () => void
}

/** Where lists come from. */
export interface ListSource {
  readonly ask: (path: string) => Promise<ListAnswer>
  /** True while every new head is told at once. Only then is an answer kept for those who come after it. */
  readonly isFollowing: () => boolean
}

/** A list that was asked for since the last head. `bytes`: what it costs; undefined while it is under way. */
interface Asked {
  readonly answer: Promise<ListAnswer>
  bytes: number | undefined
}

interface Waiting extends PromiseWithResolvers<ListAnswer> {
  readonly sinceMs: number
}

/**
 * Asks for LISTS_ASKED_MAX lists at a time, each once at one head: whoever asks for the same path before the next head
 * shares the answer. Up to LISTS_WAITING_MAX other paths wait for their turn, LIST_WAIT_MS_MAX at most. Answers are
 * kept until the next head, LISTS_KEPT_BYTES_MAX of them.
 */
export function shareLists({ ask, isFollowing }: ListSource): Lists {
  // What waits was not asked yet, so it will be as new as anybody wants it, whatever the head is by then.
  const waiting = new Map<string, Waiting>()
  const asked = new Map<string, Asked>()
  let [underWay, keptBytes] = [0, 0]
  const forget = (path: string, entry: Asked): void => {
    if (asked.get(path) !== entry) return
    asked.delete(path)
    keptBytes -= entry.bytes ?? 0
  }
  const keep = (path: string, entry: Asked, { json }: ListAnswer): void => {
    if (asked.get(path) !== entry) return
    entry.bytes = json.length + LIST_OVERHEAD_BYTES
    keptBytes += entry.bytes
    for (const [other, one] of asked) {
      if (keptBytes <= LISTS_KEPT_BYTES_MAX) return
      if (one.bytes !== undefined) forget(other, one)
    }
  }
  const askNow = async (path: string): Promise<ListAnswer> => {
    underWay += 1
    try {
      return await ask(path)
    } finally {
      underWay -= 1
      askNext()
    }
  }
  const askNext = (): void => {
    for (const [path, { sinceMs, resolve, reject }] of waiting) {
      if (underWay >= LISTS_ASKED_MAX) return
      waiting.delete(path)
      if (performance.now() - sinceMs > LIST_WAIT_MS_MAX)
        reject(tooMany(`a list waited for its turn for ${LIST_WAIT_MS_MAX / 1000} s`))
      else resolve(start(path))
    }
  }
  const start = (path: string): Promise<ListAnswer> => {
    const entry: Asked = { answer: askNow(path), bytes: undefined }
    asked.set(path, entry)
    entry.answer.then(
      (answer) => keep(path, entry, answer),
      () => forget(path, entry),
    )
    return entry.answer
  }
  const read = async (path: string): Promise<ListAnswer> => {
    const same = asked.get(path)
    if (same !== undefined && (same.bytes === undefined || isFollowing())) return same.answer
    const next = waiting.get(path)
    if (next !== undefined) return next.promise
    if (waiting.size >= LISTS_WAITING_MAX) throw tooMany(`${LISTS_WAITING_MAX} other lists wait for their turn`)
    if (same !== undefined) forget(path, same)
    if (underWay < LISTS_ASKED_MAX) return start(path)
    const turn: Waiting = { ...Promise.withResolvers<ListAnswer>(), sinceMs: performance.now() }
    waiting.set(path, turn)
    return turn.promise
  }
  const onHeight = (): void => {
    asked.clear()
    keptBytes = 0
  }
  return { read, onHeight }
}
