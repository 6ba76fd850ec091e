import QuickLRU from 'quick-lru'
import type { Server } from '../rpc/envelope.ts'
import { type RpcError, tooMany } from '../rpc/errors.ts'
import { ADDRESSES_KEPT, CALL_BYTES, LIST_COST, RATE_WINDOW_MS, TURN_CALLS } from './limits.ts'

interface Waiting {
  readonly calls: number
  readonly begin: () => void
}

/**
 * What waits of one address: calls to be run, and behind them texts to be parsed. `begun`: the calls that it has begun.
 * It starts at what the last address had begun, so that whoever comes late gets no credit for the time before.
 */
interface Queue {
  readonly calls: Waiting[]
  readonly texts: Waiting[]
  begun: number
}

const nextOf = ({ calls, texts }: Queue): Waiting => (calls[0] ?? texts[0]) as Waiting

/** How many calls an address will have begun with what comes next. */
const withNext = (queue: Queue): number => queue.begun + nextOf(queue).calls

/**
 * Gives requests their turns by the address that they come from: one to be parsed, and one to be run. The next turn goes
 * to the address that has had the fewest calls since it began to wait (fair queueing). So a caller of another address
 * waits for one turn of a busy one at most, and a large request waits until the others have had as many calls.
 * `beginSome` begins up to TURN_CALLS calls and then lets Node read its sockets, of which it accepts one connection each
 * time. After a large request it therefore waits for several turns of the event loop.
 */
export function createTurns(): (address: string, kind: 'texts' | 'calls', calls: number) => Promise<void> {
  const waiting = new Map<string, Queue>()
  let begunByAll = 0
  let ahead = 0
  const beginNext = (): number => {
    const [address, queue] = [...waiting].reduce((first, one) => (withNext(one[1]) < withNext(first[1]) ? one : first))
    const next = nextOf(queue)
    ;(queue.calls[0] === next ? queue.calls : queue.texts).shift()
    begunByAll = Math.max(begunByAll, queue.begun)
    queue.begun += next.calls
    if (queue.calls.length + queue.texts.length === 0) waiting.delete(address)
    next.begin()
    return next.calls
  }
  const beginSome = (): void => {
    ahead = Math.max(0, ahead - TURN_CALLS)
    while (ahead < TURN_CALLS && waiting.size > 0) ahead += beginNext()
    if (waiting.size > 0) setImmediate(beginSome)
  }
  return (address, kind, calls) =>
    new Promise((begin) => {
      if (waiting.size === 0) setImmediate(beginSome)
      const queue = waiting.get(address) ?? { calls: [], texts: [], begun: begunByAll }
      waiting.set(address, queue)
      queue[kind].push({ calls, begin })
    })
}

/** Splits costs, in order, into turns of at most TURN_CALLS calls together; one that costs more has a turn of its own. */
function turnsOf(costs: readonly number[]): readonly (readonly number[])[] {
  const all: number[][] = []
  let left = 0
  for (const cost of costs) {
    if (cost > left || all.length === 0) {
      all.push([])
      left = TURN_CALLS
    }
    all.at(-1)?.push(cost)
    left -= cost
  }
  return all
}

const sumOf = (costs: readonly number[]): number => costs.reduce((sum, cost) => sum + cost, 0)

/** Counts something of an address, and says why it is too much, or undefined. */
type Count = (address: string, count: number) => RpcError | undefined

/** Creates a counter of up to `max` of an address over a window, in which what is too much counts too. */
export function createCount(what: string, max: number, windowMs = RATE_WINDOW_MS): Count {
  const windows = new QuickLRU<string, { count: number; readonly endMs: number }>({ maxSize: ADDRESSES_KEPT })
  return (address, count) => {
    if (max === Infinity) return undefined
    const nowMs = Math.floor(performance.now())
    const last = windows.get(address)
    const window = last !== undefined && nowMs < last.endMs ? last : { count: 0, endMs: nowMs + windowMs }
    window.count += count
    windows.set(address, window)
    if (window.count <= max) return undefined
    return tooMany(`more than ${max} ${what} in ${windowMs / 1000} s`, window.endMs - nowMs)
  }
}

/** Says what an address may have read and run, and when. */
export type Admission = ReturnType<typeof createAdmission>

/** As how many calls a text of this length counts at least. */
const callsIn = (bytes: number): number => Math.max(1, Math.ceil(bytes / CALL_BYTES))

/**
 * Creates the admission of a gateway: up to `callsPerSecond` calls from one address, and a LIST_COSTth of it whole lists
 * beside being calls; 0 is no limit. A text counts as a call for every CALL_BYTES, before it is parsed, or as the calls in
 * it if they are more. One that costs more than an address has in a window costs all of it.
 */
export function createAdmission(callsPerSecond: number, isList: (method: string) => boolean) {
  const callsMax = callsPerSecond === 0 ? Infinity : (callsPerSecond * RATE_WINDOW_MS) / 1000
  const countCalls = createCount('calls from one address', callsMax)
  const countLists = createCount('whole lists from one address', Math.max(1, Math.floor(callsMax / LIST_COST)))
  const turns = createTurns()
  return {
    /**
     * Counts a request, whatever it is, by the length of the body that is on its way, and says why it is too much, or
     * undefined.
     */
    countRequest: (address: string, bodyBytes: number) => countCalls(address, Math.min(callsIn(bodyBytes), callsMax)),
    /**
     * Counts a call as so many more than one, once it is read, and waits for their turn. Calls of one address go on in the
     * order in which they came to this. Throws an RpcError where that is too much.
     */
    charge: async (address: string, calls: number): Promise<void> => {
      const refused = countCalls(address, calls)
      if (refused !== undefined) throw refused
      await turns(address, 'calls', calls)
    },
    /** For one text of calls; `countedBytes`: how long `countRequest` was told that it is, if it was. */
    textOf: (address: string, countedBytes?: number): Pick<Server, 'admitText' | 'admitCalls'> => {
      let paid = countedBytes === undefined ? 0 : callsIn(countedBytes)
      return {
        admitText: async (bytes) => {
          const cost = callsIn(bytes)
          const due = Math.min(cost, callsMax) - paid
          const refused = due > 0 ? countCalls(address, due) : undefined
          paid = cost
          // A refusal takes its turn too: messages of which each is answered at once would keep the gateway from others.
          await turns(address, 'texts', refused === undefined ? cost : 1)
          return refused
        },
        admitCalls: (methods) => {
          const admit = (method: string, index: number): RpcError | undefined => {
            const refused = index < paid ? undefined : countCalls(address, 1)
            return refused ?? (isList(method) ? countLists(address, 1) : undefined)
          }
          const begins = turnsOf(methods.map((method) => (isList(method) ? LIST_COST : 1))).flatMap((costs) => {
            const begin = turns(address, 'calls', sumOf(costs))
            return costs.map(() => begin)
          })
          return methods.map(async (method, index) => {
            await begins[index]
            return admit(method, index)
          })
        },
      }
    },
  }
}
