import type { Connection } from './context.ts'
import type { RequestKind } from './types.ts'

/**
 * How long a second node waits by default for the first one to disconnect. It exceeds the 11 s within which the death of
 * a host is noticed.
 */
export const DRIVER_WAIT_MS = 15_000

/** `now`: the request may start. `later`: the connection gets a turn when it may. `never`: the request is refused. */
export type Admission = 'now' | 'later' | 'never'

/** Decides which connection may change the state: one at a time, until it ends. */
export type Drivers = ReturnType<typeof createDrivers>

type Group = 'blocks' | 'restore'

// The requests of CometBFT's consensus connection, and those of its snapshot connection that change the state.
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
 * Creates the drivers of a server, of which there are none yet. A node that restarts may connect before the end of its
 * old connections is noticed, so a second connection waits for `waitMs` before it is refused; `schedule` gives it its
 * turn.
 */
export function createDrivers(waitMs: number, schedule: (connection: Connection) => void) {
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
    /**
     * Whether a request may start. The first connection that sends a request which changes the state is the driver for
     * all kinds of its group.
     */
    admit: (kind: RequestKind, connection: Connection): Admission => {
      const group = GROUPS[kind]
      if (group === undefined) return 'now'
      const driver = drivers.get(group)
      if (driver === undefined) drivers.set(group, connection)
      return driver === undefined || driver === connection ? 'now' : wait(connection)
    },
    /** Must be called when a connection has ended, and its handlers too: a waiting one may then become the driver. */
    leave: (connection: Connection): void => {
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
