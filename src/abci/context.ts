import type { Drivers } from './drivers.ts'
import type { Application, CommitResponse, RequestKind } from './types.ts'

/** What the connections of one server share. */
export interface ConnectionContext {
  readonly application: Application
  readonly frameBytesMax: number
  readonly dialect: DialectSeen
  readonly drivers: Drivers
  /** Gives the connection a turn soon, after those that wait already. */
  schedule(connection: Connection): void
  /** A handler threw, or answered with what no message can hold. From then on `isDead`, and nothing more is sent. */
  fatal(error: unknown, kind: RequestKind): void
  isDead(): boolean
  warn(fields: object, message: string): void
}

/** One connected peer. */
export interface Connection {
  /** Serves what has come, for about TURN_MS at most, and sends the replies in one write. */
  turn(): void
  /**
   * Answers what was started, starts nothing more, and settles when the socket is closed, at most CLOSE_GRACE_MS later.
   */
  close(): Promise<void>
}

/** The two ways in which CometBFT hands over a decided block: call by call in 0.37, whole since 0.38. */
export type Dialect = '0.37' | '2.0'

/**
 * What is known of the node's dialect; one for a server, because blocks and commits come on one connection of several.
 */
export interface DialectSeen {
  /** Undefined until the first block. */
  readonly current: Dialect | undefined
  /** Takes note of a request that arrived. */
  see(kind: RequestKind): void
  /** The response as the node expects it: only 0.37 reads an app hash in the commit, where 2.0 reserves its number. */
  commit(response: CommitResponse): CommitResponse
}

const TELLING: { readonly [K in RequestKind]?: Dialect } = {
  beginBlock: '0.37',
  deliverTx: '0.37',
  endBlock: '0.37',
  finalizeBlock: '2.0',
}

/** A dialect not seen yet. */
export function createDialect(): DialectSeen {
  let current: Dialect | undefined
  return {
    get current() {
      return current
    },
    see: (kind) => {
      current = TELLING[kind] ?? current
    },
    commit: (response) => {
      if (current === '0.37' || response.appHash === undefined) return response
      const { appHash: _, ...rest } = response
      return rest
    },
  }
}
