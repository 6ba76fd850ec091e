import { TURN_WAIT_MS_MAX } from './http/limits.ts'
import { tooMany } from './rpc/errors.ts'

/** Creates a function that runs up to `max` of what has the same key at a time, in the order of the calls. */
export function fewAtATime(max: number) {
  const byKey = new Map<string, { underWay: number; readonly waiting: (() => void)[] }>()
  return async <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const own = byKey.get(key) ?? { underWay: 0, waiting: [] }
    byKey.set(key, own)
    if (own.underWay < max) own.underWay++
    else await new Promise<void>((begin) => void own.waiting.push(begin))
    try {
      return await run()
    } finally {
      const next = own.waiting.shift()
      if (next !== undefined) next()
      else if (--own.underWay === 0) byKey.delete(key)
    }
  }
}

/** Runs up to `max` of what each caller asks for at a time. Refuses with RpcError -32015 what has waited too long. */
export function turnsOf(what: string, max: number): <T>(caller: string, run: () => Promise<T>) => Promise<T> {
  const inTurn = fewAtATime(max)
  return (caller, run) => {
    const sinceMs = performance.now()
    return inTurn(caller, async () => {
      if (performance.now() - sinceMs <= TURN_WAIT_MS_MAX) return run()
      throw tooMany(`${what} waited for its turn for ${TURN_WAIT_MS_MAX / 1000} s`)
    })
  }
}
