import { useEffect, useRef, useState } from 'preact/hooks'
import type { GetValidatorHistoryResult } from '../../../client/index.ts'
import { svc } from '../../data/gateway.ts'

/** Something that an owner did with a candidacy, or that became of it. */
export type HistoryEvent = GetValidatorHistoryResult['data'][number]

/** What the page has of a history: the newest events first. */
export interface History {
  readonly events: readonly HistoryEvent[]
  /** Where the older ones begin; null when there are none. */
  readonly next: string | null
  /** The head when the newest ones were asked for. */
  readonly height: number
}

const PAGE = 50

/** How often the newest events are asked for while nothing is known to have happened, in ms. */
const AGAIN_MS = 5_000

const isSame = (a: HistoryEvent | undefined, b: HistoryEvent | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

/** The newest page put before what is there already; alone, when so much happened that the two no longer touch. */
function joined(newest: GetValidatorHistoryResult, last: History | undefined): History {
  const { data, next, height } = newest
  const at = data.findIndex((_, index) => data.slice(index).every((event, k) => isSame(event, last?.events[k])))
  if (last === undefined || at === -1) return { events: data, next, height }
  return { events: [...data.slice(0, at), ...last.events], next: last.next, height }
}

/**
 * The history of the candidacy of `owner`. It is asked for now and then, and at once when `changed` is another text than
 * before. `loadOlder` adds a page.
 */
export function useHistory(owner: string, changed: string) {
  const [history, show] = useState<History>()
  const [error, setError] = useState<Error>()
  const known = useRef<History | undefined>(undefined)
  const put = (next: History): void => {
    known.current = next
    setError(undefined)
    show(next)
  }
  useEffect(() => {
    let isOver = false
    const load = (): void => {
      if (document.hidden) return
      svc.async
        .getValidatorHistory({ validatorAddress: owner, limit: PAGE })
        .then((newest) => !isOver && put(joined(newest, known.current)))
        .catch((reason: Error) => !isOver && setError(reason))
    }
    load()
    const timer = setInterval(load, AGAIN_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [owner, changed])
  const loadOlder = async (): Promise<void> => {
    const before = known.current?.next
    if (before === undefined || before === null) return
    try {
      const older = await svc.async.getValidatorHistory({ validatorAddress: owner, limit: PAGE, before })
      const last = known.current
      if (last?.next === before) put({ ...last, events: [...last.events, ...older.data], next: older.next })
    } catch (reason) {
      setError(reason as Error)
    }
  }
  return { history: { data: history, error }, loadOlder }
}
