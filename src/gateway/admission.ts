import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RpcError, tooMany } from './errors.ts'
import { LIST_COST, RATE_WINDOW_MS, TURN_CALLS } from './limits.ts'

interface Waiting {
  readonly calls: number
  readonly begin: () => void
}

/**
 * Gives requests their turns by the address that they come from. In each round an address begins requests that cost
 * TURN_CALLS calls, or one request, and the sockets are read between the rounds. So the calls of a few busy addresses
 * delay a caller from another one by a round at most.
 */
export function createTurns(): (address: string, calls: number) => Promise<void> {
  const waiting = new Map<string, Waiting[]>()
  const round = (): void => {
    for (const [address, queue] of waiting) {
      for (let begun = 0; begun < TURN_CALLS && queue.length > 0; ) {
        const { calls, begin } = queue.shift() as Waiting
        begun += calls
        begin()
      }
      if (queue.length === 0) waiting.delete(address)
    }
    if (waiting.size > 0) setImmediate(round)
  }
  return (address, calls) =>
    new Promise((begin) => {
      const queue = waiting.get(address)
      if (queue !== undefined) return void queue.push({ calls, begin })
      if (waiting.size === 0) setImmediate(round)
      waiting.set(address, [{ calls, begin }])
    })
}

/** Says why a call may not run, or undefined. */
type Count = (request: FastifyRequest) => Promise<RpcError | undefined>

/** The counters of a gateway. */
export interface RateLimit {
  readonly countCall: Count
  readonly countList: Count
}

const WINDOW_S = RATE_WINDOW_MS / 1000

/**
 * Creates counters of calls by the address that they come from: up to `callsPerSecond` calls from one address (an IPv6
 * address counts by its /64), and a LIST_COSTth of it whole lists beside being calls, counted over RATE_WINDOW_MS; 0 is
 * no limit. The counts of the last 5,000 addresses are kept.
 */
export async function createRateLimit(app: FastifyInstance, callsPerSecond: number): Promise<RateLimit> {
  const none: Count = async () => undefined
  if (callsPerSecond === 0) return { countCall: none, countList: none }
  await app.register(rateLimit, { global: false })
  const counter = (what: string, max: number): Count => {
    const count = app.createRateLimit({ max, timeWindow: RATE_WINDOW_MS })
    return async (request) => {
      const counted = await count(request)
      if (counted.isAllowed || !counted.isExceeded) return undefined
      return tooMany(`more than ${max} ${what} from one address in ${WINDOW_S} s`, counted.ttl)
    }
  }
  return {
    countCall: counter('calls', callsPerSecond * WINDOW_S),
    countList: counter('whole lists', Math.max(1, Math.floor((callsPerSecond * WINDOW_S) / LIST_COST))),
  }
}
