import { tooMany } from './rpc/errors.ts'
import {
  LIST_WAIT_MS_MAX,
  LISTS_ASKED_MAX,
  LISTS_KEPT_BYTES_MAX,
  LISTS_WAITING_MAX,
  OVERHEAD_BYTES,
} from './http/limits.ts'

/** A list as the node answered it. All callers share `json`, so nobody may change it. */
export interface ListAnswer {
  readonly height: number
  /** The list; with `hasTotal` its member `data` and `total` and the closing brace. */
  readonly json: Uint8Array
  readonly hasTotal?: true
}

/** Where lists come from. */
interface ListSource {
  readonly ask: (path: string) => Promise<ListAnswer>
  /** True while `onHeight` is called at every new head. Only then is an answer kept for later callers. */
  readonly isFollowing: () => boolean
}

/** A list that callers share. `bytes` is the memory that it takes, or 0 while the node has not answered. */
interface SharedList {
  readonly answer: Promise<ListAnswer>
  bytes: number
}

/**
 * Asks for LISTS_ASKED_MAX lists at a time, each once at one head: whoever asks for the same path before the next head
 * shares the answer. Up to LISTS_WAITING_MAX other paths wait for their turn, LIST_WAIT_MS_MAX at most. Answers are
 * kept until the next head, LISTS_KEPT_BYTES_MAX of them.
 */
export function shareLists({ ask, isFollowing }: ListSource) {
  const shared = new Map<string, SharedList>()
  /** The paths that wait for their turn, and how each begins. */
  const turns = new Map<string, () => void>()
  let [underWay, keptBytes] = [0, 0]
  const forget = (path: string, list: SharedList): void => {
    if (shared.get(path) !== list) return
    shared.delete(path)
    keptBytes -= list.bytes
  }
  const keep = (path: string, list: SharedList, { json }: ListAnswer): void => {
    if (shared.get(path) !== list) return
    list.bytes = json.length + OVERHEAD_BYTES
    keptBytes += list.bytes
    for (const [other, one] of shared) {
      if (keptBytes <= LISTS_KEPT_BYTES_MAX) return
      if (one.bytes > 0) forget(other, one)
    }
  }
  const askInTurn = async (path: string): Promise<ListAnswer> => {
    const sinceMs = performance.now()
    if (underWay < LISTS_ASKED_MAX) underWay++
    else await new Promise<void>((begin) => turns.set(path, begin))
    try {
      if (performance.now() - sinceMs <= LIST_WAIT_MS_MAX) return await ask(path)
      throw tooMany(`a list waited for its turn for ${LIST_WAIT_MS_MAX / 1000} s`)
    } finally {
      const [next] = turns
      if (next === undefined) underWay--
      else {
        const [waiting, begin] = next
        turns.delete(waiting)
        begin()
      }
    }
  }
  return {
    /**
     * Reads the list of a query path, at least as new as the last head that `onHeight` was called for. Throws RpcError
     * -32015 when too many lists wait.
     */
    read: async (path: string): Promise<ListAnswer> => {
      const same = shared.get(path)
      if (same !== undefined && (same.bytes === 0 || isFollowing())) return same.answer
      if (turns.size >= LISTS_WAITING_MAX) throw tooMany(`${LISTS_WAITING_MAX} other lists wait for their turn`)
      if (same !== undefined) forget(path, same)
      const list: SharedList = { answer: askInTurn(path), bytes: 0 }
      shared.set(path, list)
      list.answer.then(
        (given) => keep(path, list, given),
        () => forget(path, list),
      )
      return list.answer
    },
    /** To be called at each new head: from now on callers want a list of this head. */
    onHeight: (): void => {
      // The node is asked for those that wait later, so they will be new enough, whatever the head is by then.
      for (const path of shared.keys()) if (!turns.has(path)) shared.delete(path)
      keptBytes = 0
    },
  }
}
