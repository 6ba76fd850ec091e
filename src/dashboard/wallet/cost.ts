import { maxOf, parseRatio, shareCeil } from '../../base/amount.ts'
import type { Facts, Order } from './facts.ts'

/** What an order takes from the balance beside its fee, in base units, and what becomes of it. */
export interface Taken {
  readonly name: 'Stake' | 'Payment' | 'Held until the proposal is decided'
  readonly units: bigint
}

/** The stake that an owner has to bring for `maxShares`. Source: protocol.md §3. */
export const selfStakeOf = (maxShares: bigint, { params }: Pick<Facts, 'params'>): bigint =>
  shareCeil(maxShares, parseRatio(params.self_staking_ratio) ?? 0n)

/** What a candidacy that comes back adds to what still unbonds of it. Source: protocol.md §3, activate. */
function restakeOf(facts: Facts): bigint {
  if (facts.candidacy?.record.state !== 'Withdrawn') return 0n
  const { record, unbonding } = facts.candidacy
  return maxOf(0n, selfStakeOf(BigInt(record.max_shares), facts) - unbonding)
}

function moreStakeOf(maxAmount: bigint, facts: Facts): bigint {
  return maxOf(0n, selfStakeOf(maxAmount, facts) - BigInt(facts.candidacy?.record.shares ?? 0))
}

/** What an order takes beside its fee; undefined where it takes nothing. */
export function takenBy(order: Order, facts: Facts): Taken | undefined {
  const stake = (units: bigint): Taken | undefined => (units === 0n ? undefined : { name: 'Stake', units })
  switch (order.operation) {
    case 'declareCandidacy':
      return stake(selfStakeOf(BigInt(order.input.maxAmount ?? facts.defaultMaxAmount), facts))
    case 'updateCandidacy':
      return order.input.maxAmount === undefined ? undefined : stake(moreStakeOf(BigInt(order.input.maxAmount), facts))
    case 'activateCandidacy':
      return stake(restakeOf(facts))
    case 'acceptCandidacyAccountUpdate':
      return facts.handOver === undefined ? undefined : { name: 'Payment', units: facts.handOver.shares }
    case 'transfer':
      return { name: 'Payment', units: BigInt(order.input.value) }
    case 'proposeTransferFund':
      return order.input.transferFrom.toLowerCase() === facts.from
        ? { name: 'Held until the proposal is decided', units: BigInt(order.input.amount) }
        : undefined
    case 'withdrawCandidacy':
    case 'deactivateCandidacy':
    case 'updateCandidacyAccount':
    case 'verifyCandidacy':
    case 'proposeChangeParam':
    case 'proposeDeployLibEni':
    case 'proposeRetireProgram':
    case 'proposeUpgradeProgram':
    case 'vote':
      return undefined
  }
}
