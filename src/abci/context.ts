import type { DialectSeen } from './dialect.ts'
import type { Drivers } from './drivers.ts'
import type { Application, RequestKind } from './types.ts'

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
