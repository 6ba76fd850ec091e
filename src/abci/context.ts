import type { Drivers } from './drivers.ts'
import type { Handlers } from './handlers.ts'
import type { RequestKind } from './types.ts'

/** What the connections of one server share. */
export interface ConnectionContext {
  readonly handlers: Handlers
  readonly frameBytesMax: number
  readonly drivers: Drivers
  readonly onReadAhead: ((txs: readonly Uint8Array[]) => void) | undefined
  /** True after a BeginBlock, which only 0.37 sends, and false after a FinalizeBlock, which 0.37 does not have. */
  isLegacy: boolean
  /** The app hash of the last block of the 0.37 dialect that FinalizeBlock served: Commit has to send it. */
  foldedAppHash: Uint8Array | undefined
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
