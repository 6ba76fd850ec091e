/** What is done to an application's process. The harness passes it to preload.ts in a variable of the environment. */

/** Where a process kills itself, and the most times that it may pass there before it does. */
export const PLACES = {
  initChain: { most: 20, what: 'in InitChain, up to its reply' },
  begin: { most: 4, what: 'before BEGIN, that of opening included' },
  midWrite: { most: 60, what: 'before a statement within a transaction' },
  beforeCommit: { most: 4, what: 'before COMMIT' },
  afterCommit: { most: 4, what: 'after COMMIT' },
  reply: { most: 4, what: 'before the reply to Commit' },
  tree: { most: 15, what: 'before a statement that writes the tree' },
  snapshot: { most: 14, what: 'in making a snapshot, before a call that writes' },
  restore: { most: 120, what: 'in restoring a snapshot into a database of its own' },
  takeOver: { most: 14, what: 'while the restored state replaces the old one' },
} as const

export type Place = keyof typeof PLACES

/** A fault of the process. None of its members: the process runs as it always does. */
export interface Fault {
  /** Kills the process by SIGKILL where it passes `place` for the `at`-th time, from 1. */
  readonly place?: Place
  readonly at?: number
  /** Pages of the WAL after which it is written back, in place of the product's own number. */
  readonly walPages?: number
  /**
   * The `at`-th block that is committed fills the log, so that its COMMIT ends with a checkpoint, which is long: see
   * ballast.ts. The file `marks` gets one byte before that COMMIT and another one after it.
   */
  readonly checkpoint?: { readonly at: number; readonly marks: string }
  /** The clock is a day ahead after so many replies, and a day behind after twice as many. */
  readonly clockAfter?: number
  /** A mistake that the campaigns must find: a block's rows and its height in two transactions. */
  readonly twoTransactions?: boolean
  /** Another one: what is in the log is thrown away when the process starts. */
  readonly removesLog?: boolean
  /** Another one: errors of the disk are ignored. */
  readonly ignoresErrors?: boolean
  /** Another one: the time of a block comes from the clock. */
  readonly trustsClock?: boolean
}

export const FAULT_VARIABLE = 'TEST_FAULT'
