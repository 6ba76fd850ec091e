/**
 * Rules that the state machine and the web page share: what operations take from a balance in addition to the fee, when a
 * stake is paid out, and which blocks report their awards.
 */
import { type Amount, maxOf, type Ratio, shareCeil } from '../base/amount.ts'

/** The stake that an owner has to bring for `maxShares`, rounded up. Source: protocol.md §3. */
export const selfStakeOf = (maxShares: Amount, selfStakingRatio: Ratio): Amount =>
  shareCeil(maxShares, selfStakingRatio)

/** What an owner adds to `shares` that it has, or that still unbond, for `maxShares`. Source: protocol.md §3. */
export const missingStakeOf = (maxShares: Amount, shares: Amount, selfStakingRatio: Ratio): Amount =>
  maxOf(0n, selfStakeOf(maxShares, selfStakingRatio) - shares)

/** What a proposed payment holds until it is decided: a proposer pays in advance, nobody else does. Source: §6. */
export const escrowOf = (transferFrom: string, proposer: string, value: Amount): Amount =>
  transferFrom === proposer ? value : 0n

/** Withdrawals of so many parts of unstake_wait_period share a batch. Source: protocol.md §12. */
const BATCHES_A_PERIOD = 64

/** The batch of what is taken back in block `height`: the block that closes it, and the one that pays it. */
export function batchHeights(height: number, unstakeWaitPeriod: number): { heightMade: number; heightPaid: number } {
  const step = Math.max(1, Math.ceil(unstakeWaitPeriod / BATCHES_A_PERIOD))
  const heightMade = height + ((step - (height % step)) % step)
  return { heightMade, heightPaid: heightMade + unstakeWaitPeriod }
}

/**
 * What a member is paid is an event only in blocks whose height is a multiple of this. One for every member and block
 * would be most of what CometBFT's index holds.
 */
export const AWARD_EVENT_BLOCKS = 50
