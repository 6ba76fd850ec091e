/** What operations take from a balance beside the fee: the state machine counts by these, and the web page shows them. */
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
