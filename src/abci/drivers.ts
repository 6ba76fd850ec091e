import type { Connection } from './context.ts'
import type { RequestKind } from './types.ts'

/**
 * How long a second node waits for the first one to be gone unless told otherwise. The death of a host is noticed
 * within 11 s.
 */
export const DRIVER_WAIT_MS = 15_000

/** `now`: the request may start; `later`: the connection gets a turn when that changes; `never`: it is refused. */
export type Admission = 'now' | 'later' | 'never'

/** Which connection may change the state: one at a time, for as long as it stands. */
export interface Drivers {
  /**
   * Asks for a request. The first connection that asks for a kind that changes the state drives all kinds of that
   * group.
   */
  admit(kind: RequestKind, connection: Connection): Admission
  /** The connection has ended: whoever waits may drive. */
  leave(connection: Connection): void
}

type Group = 'blocks' | 'restore'

// What CometBFT sends over its consensus connection, and what changes the state over its snapshot connection.
const GROUPS: { readonly [K in RequestKind]?: Group } = {
  initChain: 'blocks',
  prepareProposal: 'blocks',
  processProposal: 'blocks',
  extendVote: 'blocks',
  verifyVoteExtension: 'blocks',
  finalizeBlock: 'blocks',
  beginBlock: 'blocks',
  deliverTx: 'blocks',
  endBlock: 'blocks',
  commit: 'blocks',
  offerSnapshot: 'restore',
  applySnapshotChunk: 'restore',
}

/**
 * Lets one node drive. A node that restarts may connect before the end of its old connections is seen, so a second
 * connection waits for `waitMs` before it is refused; it gets its turn by `schedule`.
 */
export function createDrivers(waitMs: number, schedule: (connection: Connection) => void): Drivers {
  const drivers = new Map<Group, Connection>()
  const waiting = new Map<Connection, NodeJS.Timeout>()
  const refused = new WeakSet<Connection>()

  const wait = (connection: Connection): Admission => {
    if (refused.has(connection)) return 'never'
    if (!waiting.has(connection)) {
      waiting.set(
        connection,
        setTimeout(() => {
          waiting.delete(connection)
          refused.add(connection)
          schedule(connection)
        }, waitMs),
      )
    }
    return 'later'
  }

  return {
    admit: (kind, connection) => {
      const group = GROUPS[kind]
      if (group === undefined) return 'now'
      const driver = drivers.get(group)
      if (driver === undefined) drivers.set(group, connection)
      return driver === undefined || driver === connection ? 'now' : wait(connection)
    },
    leave: (connection) => {
      clearTimeout(waiting.get(connection))
      waiting.delete(connection)
      for (const [group, driver] of drivers) if (driver === connection) drivers.delete(group)
      for (const [one, timer] of waiting) {
        clearTimeout(timer)
        schedule(one)
      }
      waiting.clear()
    },
  }
}
