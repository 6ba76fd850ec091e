import { TURN_CALLS } from './limits.ts'

/** Lets requests begin in turns. */
export type Turns = (address: string, calls: number) => Promise<void>

interface Waiting {
  readonly calls: number
  readonly begin: () => void
}

/**
 * Turns for requests by the address that they come from: in each round an address begins requests that cost TURN_CALLS
 * calls, or one, and the sockets are looked at between the rounds. So what many calls of a few addresses cost delays a
 * caller of another by a round.
 */
export function createTurns(): Turns {
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
