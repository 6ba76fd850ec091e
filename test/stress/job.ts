import type { Target } from '../../bench/load/job.ts'

/**
 * Stands in a body for eight digits that differ in every request, so that no answer and no refusal can be remembered.
 */
export const STAMP = '~'.repeat(8)

/**
 * How strangers misbehave: `ask` as fast as answers come, `neverRead` what they asked for, also on a websocket,
 * `writeSlowly`, a byte at a time, or `hangUp` as soon as their messages on a websocket are sent.
 */
export type Manner = 'ask' | 'neverRead' | 'neverReadSocket' | 'writeSlowly' | 'hangUp'

/** An attack as the attackers' process is told of it. */
export interface AttackJob {
  readonly target: Target
  readonly manner: Manner
  readonly connections: number
  /** From how many addresses: 127.0.0.2 and up. */
  readonly addresses: number
  /** JSON bodies, sent in turn; of `hangUp`, the messages of each websocket. */
  readonly bodies: readonly string[]
  /** Messages on a websocket beside each connection, which is read and stays open. */
  readonly subscriptions: readonly string[]
  /** How long it lasts, from the first answer or loss on. */
  readonly durationMs: number
  /** How long that is waited for: strangers may get little of a busy machine's CPU. */
  readonly firstMsMax: number
}

/**
 * What became of the strangers' requests, by answer: `answered`, a code, an HTTP status, or the system's word for a
 * lost connection.
 */
export type AttackTally = Readonly<Record<string, number>>
