import type { Drivers } from './drivers.ts'
import type { Application, CommitResponse, RequestKind } from './types.ts'

/** What the connections of one server share. */
export interface ConnectionContext {
  readonly application: Application
  readonly frameBytesMax: number
  readonly dialect: DialectSeen
  readonly drivers: Drivers
  /** Gives the connection a turn soon, after those that are waiting already. */
  schedule(connection: Connection): void
  /**
   * Reports that a handler threw, or returned a response that no message can hold. `isDead` is true from then on, and
   * nothing more is sent.
   */
  fatal(error: unknown, kind: RequestKind): void
  isDead(): boolean
  warn(fields: object, message: string): void
}

/** One connected peer. */
export interface Connection {
  /** Serves the requests that have arrived, for about TURN_MS at most, and sends the replies in one write. */
  turn(): void
  /** Answers the requests that were started, and starts no others. Settles within CLOSE_GRACE_MS, with the socket closed. */
  close(): Promise<void>
}

/** The two ways in which CometBFT sends a decided block: call by call in 0.37, in one request since 0.38. */
export type Dialect = '0.37' | '2.0'

/** The dialect of the node, as its requests reveal it. All connections of a server share it. */
export interface DialectSeen {
  /** Undefined until the first block. */
  readonly current: Dialect | undefined
  /** Must be told of every request. */
  see(kind: RequestKind): void
  /** The response as the node expects it. Only 0.37 reads an app hash in the Commit response; 2.0 reserves its number. */
  commit(response: CommitResponse): CommitResponse
}

const DIALECTS: { readonly [K in RequestKind]?: Dialect } = {
  beginBlock: '0.37',
  deliverTx: '0.37',
  endBlock: '0.37',
  finalizeBlock: '2.0',
}

/** No dialect is known before the first block. */
export function createDialect(): DialectSeen {
  let current: Dialect | undefined
  return {
    get current() {
      return current
    },
    see: (kind) => {
      current = DIALECTS[kind] ?? current
    },
    commit: (response) => {
      if (current === '0.37' || response.appHash === undefined) return response
      const { appHash: _, ...rest } = response
      return rest
    },
  }
}
