import type { PartName } from './chain.ts'
import type { AttackTally } from './job.ts'

/** What one attack came to, beside the quiet phase of the same run. */
export interface Endured {
  readonly name: string
  readonly title: string
  /** p95 of the time from block to block ÷ that of the quiet phase. */
  readonly blockRatio: number
  /** p95 of `svc_transfer` ÷ that of the quiet phase; null when none was carried out. */
  readonly transferRatio: number | null
  /** p95 of `svc_getTransactions` ÷ that of the quiet phase; NaN when none was answered. */
  readonly historyRatio: number
  /** Strangers ask for histories too. */
  readonly asksHistories: boolean
  /** The strangers are one address, which may keep nobody else from being answered. */
  readonly ofOneAddress: boolean
  /**
   * From the strangers' last call to the end of the last block or honest call that was slow, as a share of BACK_MS_MAX.
   */
  readonly back: number
  /** Honest calls in all, and those that were not carried out, by answer. */
  readonly calls: number
  readonly refused: Readonly<Record<string, number>>
  /** Megabytes above those before the attack: the most, and what was left at the end of the wait. */
  readonly memoryPeakMb: Readonly<Record<PartName, number>>
  readonly memoryLeftMb: Readonly<Record<PartName, number>>
  readonly walPeakMb: number
  /** Subscriptions that the gateway counts when every stranger is gone. Honest callers have none. */
  readonly subscriptionsLeft: number
  /** Transactions in its blocks that succeeded without a fee. */
  readonly freeWrites: number
  /** What the strangers were answered. */
  readonly strangers: AttackTally
}

/** A block may take this many times as long as when all is quiet. */
const BLOCK_RATIO_MAX = 2
/** An honest transfer may take this many times as long. */
const TRANSFER_RATIO_MAX = 4
/** An honest history may take this many times as long while strangers ask for histories. */
const HISTORY_RATIO_MAX = 2
/** The chain is as quiet as before within this after the last call, in ms. */
export const BACK_MS_MAX = 5000
/** What each process may hold more than before. */
export const MEMORY_LEFT_MB_MAX = 50
/** SQLite's write-ahead log is checkpointed before it is larger, whoever reads. */
const WAL_MB_MAX = 64
/** How a stranger's connection is lost in the system's or the HTTP client's words; everything else reached the node. */
const LOST = /^[A-Z_]+$/
/**
 * Answers that tell an honest caller to come back later, where the strangers are many: JSON-RPC's code and HTTP's status
 * of a rate limit.
 */
const RATE_LIMITED = ['-32015', 'HTTP 429']

/** What is slow beside a quiet phase, in ms. `slack`: as in `brokenLimits`. */
export const slowerThan = (quiet: { readonly blockP95Ms: number; readonly transferP95Ms: number }, slack: number) => ({
  blockMs: quiet.blockP95Ms * BLOCK_RATIO_MAX * slack,
  transferMs: quiet.transferP95Ms * TRANSFER_RATIO_MAX * slack,
})

/**
 * The limits that an attack broke, in words. `slack`: how many times a limit may be exceeded; refusals and the log's
 * size have none.
 */
export function brokenLimits(row: Endured, slack: number): readonly string[] {
  const {
    blockRatio,
    transferRatio,
    historyRatio,
    asksHistories,
    ofOneAddress,
    back,
    refused,
    memoryLeftMb,
    walPeakMb,
    subscriptionsLeft,
    freeWrites,
    strangers,
  } = row
  const unexplained = Object.keys(refused).filter((code) => ofOneAddress || !RATE_LIMITED.includes(code))
  const held = Math.max(...Object.values(memoryLeftMb))
  return [
    ...(Object.keys(strangers).every((end) => LOST.test(end)) ? ['no stranger reached the node'] : []),
    ...(blockRatio > BLOCK_RATIO_MAX * slack ? ['blocks'] : []),
    ...(transferRatio === null || transferRatio > TRANSFER_RATIO_MAX * slack ? ['transfers'] : []),
    ...(asksHistories && !(historyRatio <= HISTORY_RATIO_MAX * slack) ? ['histories'] : []),
    ...(back > slack ? ['back to quiet'] : []),
    ...(unexplained.length > 0 ? [`honest calls refused with ${unexplained.join(', ')}`] : []),
    ...(held > MEMORY_LEFT_MB_MAX * slack ? ['memory'] : []),
    ...(subscriptionsLeft > 0 ? [`${subscriptionsLeft} subscriptions of nobody`] : []),
    ...(walPeakMb > WAL_MB_MAX ? ['write-ahead log'] : []),
    ...(freeWrites > 0 ? [`${freeWrites} transactions without a fee`] : []),
  ]
}
