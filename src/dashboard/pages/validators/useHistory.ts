import { useEffect, useState } from 'preact/hooks'
import { events as names } from '../../../client/gen/events.ts'
import type { GetValidatorHistoryResult } from '../../../client/index.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'

/** Something that an owner did with a candidacy, or that became of it. */
export type HistoryEvent = GetValidatorHistoryResult['data'][number]

/** Where older events begin: in the history of this owner, the newest ones where `before` is left out. */
interface Next {
  readonly owner: string
  readonly before?: string
  /** The hand-over by which this owner gave the candidacy away. */
  readonly handedOver?: HistoryEvent
}

/** What the page has of a history: the newest events first. */
export interface History {
  readonly events: readonly HistoryEvent[]
  /** Null when there are no older ones. */
  readonly next: Next | null
  /** The head when the newest ones were asked for. */
  readonly height: number
  /** The first block that the node knows of. */
  readonly earliest: number
}

const PAGE = 50

const { acceptAccountUpdate, declare } = names.stake

/** Who gave the candidacy away in a hand-over. */
const giverOf = async ({ attributes }: HistoryEvent): Promise<string | undefined> =>
  (await svc.async.stake.validator.queryAccountUpdate(Number(attributes['request_id']))).data?.from

/** True for what the giver of a candidacy did with it, in the block of the hand-over or before. */
const isBefore = (event: HistoryEvent, { height, hash }: HistoryEvent): boolean =>
  event.height < height || (event.height === height && event.hash !== null && event.hash !== hash)

/**
 * A page of a history. Behind a hand-over it goes on with the one who gave the candidacy away, and ends where that one
 * declared it.
 */
async function askPage({ owner, before, handedOver }: Next): Promise<History> {
  const page = { validatorAddress: owner, limit: PAGE, ...(before === undefined ? {} : { before }) }
  const { data, next, height, earliest_height: earliest } = await svc.async.getValidatorHistory(page)
  const own = handedOver === undefined ? data : data.filter((event) => isBefore(event, handedOver))
  const at = own.findIndex(
    ({ type, attributes }) =>
      (type === acceptAccountUpdate && attributes['sender'] === owner) ||
      (type === declare && handedOver !== undefined),
  )
  const first = own[at]
  if (first === undefined) {
    const older = handedOver === undefined ? { owner } : { owner, handedOver }
    return { events: own, next: next === null ? null : { ...older, before: next }, height, earliest }
  }
  const giver = first.type === acceptAccountUpdate ? await giverOf(first) : undefined
  const older = giver === undefined ? null : { owner: giver, before: String(first.height + 1), handedOver: first }
  return { events: own.slice(0, at + 1), next: older, height, earliest }
}

const isSame = (a: HistoryEvent | undefined, b: HistoryEvent | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

/** The newest page put before what is there already; alone, when so much happened that the two no longer touch. */
function joined(newest: History, last: History | undefined): History {
  const { events } = newest
  const at = events.findIndex((_, index) => events.slice(index).every((event, k) => isSame(event, last?.events[k])))
  if (last === undefined || at === -1) return newest
  return { ...newest, events: [...events.slice(0, at), ...last.events], next: last.next }
}

/** The history of the candidacy of `owner`, and what adds an older page to it. */
export function useHistory(owner: string) {
  const { data: newest, error: missing } = useAnswer(`history/${owner}`, () => askPage({ owner }))
  const [history, show] = useState<History>()
  const [error, setError] = useState<Error>()
  useEffect(() => {
    if (newest !== undefined) show((last) => joined(newest, last))
  }, [newest])
  const loadOlder = async (): Promise<void> => {
    const next = history?.next
    if (next === undefined || next === null) return
    setError(undefined)
    try {
      const { events, next: older } = await askPage(next)
      show((last) => (last?.next === next ? { ...last, events: [...last.events, ...events], next: older } : last))
    } catch (reason) {
      setError(reason as Error)
    }
  }
  return { history: { data: history, error: missing ?? error }, loadOlder }
}
