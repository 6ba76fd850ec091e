import type { RawJson } from './rpc/envelope.ts'
import { tooMany } from './rpc/errors.ts'
import {
  ANSWER_OVERHEAD_BYTES,
  LISTS_ASKED_MAX,
  LISTS_KEPT_BYTES_MAX,
  LISTS_WAITING_MAX,
  LISTS_WAITING_OF_ADDRESS_MAX,
  TURN_WAIT_MS_MAX,
} from './http/limits.ts'

interface ListSource {
  /** Asks the node. All callers share the answer, so nobody may change its bytes. */
  readonly ask: (path: string) => Promise<RawJson>
  /** True while `onHeight` is called at every new head. Only then is an answer kept for later callers. */
  readonly isFollowing: () => boolean
}

/** A list of this head. `bytes` is the memory that it takes, or undefined while the node has not answered. */
interface SharedList {
  readonly answer: Promise<RawJson>
  bytes: number | undefined
}

interface Waiting extends PromiseWithResolvers<RawJson> {
  readonly sinceMs: number
  /** Who asked for it first. */
  readonly caller: string
}

/**
 * Asks for LISTS_ASKED_MAX lists at a time, each once at one head: whoever asks for the same path before the next head
 * shares the answer. Up to LISTS_WAITING_MAX other paths wait for their turn, TURN_WAIT_MS_MAX at most. Answers are
 * kept until the next head, LISTS_KEPT_BYTES_MAX of them.
 */
export function shareLists({ ask, isFollowing }: ListSource) {
  // The node is asked for these later, so they will be new enough, whatever the head is by then.
  const waiting = new Map<string, Waiting>()
  const shared = new Map<string, SharedList>()
  let [underWay, keptBytes] = [0, 0]
  const forget = (path: string, list: SharedList): void => {
    if (shared.get(path) !== list) return
    shared.delete(path)
    keptBytes -= list.bytes ?? 0
  }
  const keep = (path: string, list: SharedList, { pieces }: RawJson): void => {
    if (shared.get(path) !== list) return
    list.bytes = pieces.reduce((sum, piece) => sum + piece.length, ANSWER_OVERHEAD_BYTES)
    keptBytes += list.bytes
    for (const [other, one] of shared) {
      if (keptBytes <= LISTS_KEPT_BYTES_MAX) return
      if (one.bytes !== undefined) forget(other, one)
    }
  }
  const askNext = (): void => {
    for (const [path, { sinceMs, resolve, reject }] of waiting) {
      if (underWay >= LISTS_ASKED_MAX) return
      waiting.delete(path)
      if (performance.now() - sinceMs > TURN_WAIT_MS_MAX)
        reject(tooMany(`a list waited for its turn for ${TURN_WAIT_MS_MAX / 1000} s`))
      else resolve(start(path))
    }
  }
  const start = (path: string): Promise<RawJson> => {
    underWay += 1
    const answer = ask(path).finally(() => {
      underWay -= 1
      askNext()
    })
    const list: SharedList = { answer, bytes: undefined }
    shared.set(path, list)
    answer.then(
      (given) => keep(path, list, given),
      () => forget(path, list),
    )
    return answer
  }
  return {
    /**
     * Reads the list of a query path, at least as new as the last head that `onHeight` was called for. Throws RpcError
     * -32015 when too many lists wait.
     */
    read: async (caller: string, path: string): Promise<RawJson> => {
      const same = shared.get(path)
      if (same !== undefined && (same.bytes === undefined || isFollowing())) return same.answer
      const next = waiting.get(path)
      if (next !== undefined) return next.promise
      const own = [...waiting.values()].filter((one) => one.caller === caller).length
      if (own >= LISTS_WAITING_OF_ADDRESS_MAX) throw tooMany(`${own} other lists of this address wait for their turn`)
      if (waiting.size >= LISTS_WAITING_MAX) throw tooMany(`${LISTS_WAITING_MAX} other lists wait for their turn`)
      if (same !== undefined) forget(path, same)
      if (underWay < LISTS_ASKED_MAX) return start(path)
      const turn: Waiting = { ...Promise.withResolvers<RawJson>(), sinceMs: performance.now(), caller }
      waiting.set(path, turn)
      return turn.promise
    },
    /** To be called at each new head: from now on callers want a list of this head. */
    onHeight: (): void => {
      shared.clear()
      keptBytes = 0
    },
  }
}
