import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RpcError, tooMany } from './errors.ts'
import { LIST_COST, RATE_WINDOW_MS } from './limits.ts'

/** Counts calls by the address that they come from. Every method says why the call may not run, or undefined. */
export interface RateLimit {
  readonly countCall: (request: FastifyRequest) => Promise<RpcError | undefined>
  /** A whole list counts against a share of its own, beside being a call. */
  readonly countList: (request: FastifyRequest) => Promise<RpcError | undefined>
}

const WINDOW_S = RATE_WINDOW_MS / 1000

/**
 * Up to `callsPerSecond` calls from one address (an IPv6 address counts by its /64), and a LIST_COSTth of it lists,
 * counted over RATE_WINDOW_MS; 0 is no limit. The counts of the last 5,000 addresses are kept.
 */
export async function openRateLimit(app: FastifyInstance, callsPerSecond: number): Promise<RateLimit> {
  if (callsPerSecond === 0) return { countCall: async () => undefined, countList: async () => undefined }
  await app.register(rateLimit, { global: false })
  const counter = (what: string, max: number): RateLimit['countCall'] => {
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
