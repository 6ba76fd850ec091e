import type { Address } from '../../base/address.ts'
import type { Ratio } from '../../base/amount.ts'
import { cut } from '../../base/json.ts'
import { address } from '../../values/account.ts'
import { integerOf, positiveRatio } from '../../values/number.ts'
import type { ValueType } from '../../values/valueType.ts'

/**
 * The eleven system parameters as the state machine uses them. Units: periods in blocks, prices in base units a gas.
 */
export interface Params {
  readonly holdAccount: Address
  readonly maxVals: number
  readonly selfStakingRatio: Ratio
  /** Per cent a year. */
  readonly inflationRate: number
  readonly stakeLimit: Ratio
  readonly unstakeWaitPeriod: number
  readonly proposalExpirePeriod: number
  /** Gas of declare. */
  readonly declareCandidacy: number
  /** Gas of update, updateAccount and acceptAccountUpdate. */
  readonly updateCandidacy: number
  /** Gas of propose* and vote. */
  readonly governanceProposal: number
  readonly gasPrice: number
}

/** A value of a parameter. */
export type ParamValue = Params[keyof Params]

/** One parameter. Source: protocol.md §6. */
export interface Parameter {
  readonly member: keyof Params
  /** What genesis may give. */
  readonly type: ValueType<ParamValue>
  /** What a proposal may give, where that is less. */
  readonly proposedType?: ValueType<ParamValue>
  /** Its text at genesis when the genesis file gives none. */
  readonly fallback: string
}

const gas = integerOf(0, 10 ** 8)

/** The parameters by the interface's names, in its order. */
export const PARAMETERS: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ['hold_account', { member: 'holdAccount', type: address, fallback: `0x${'f'.repeat(40)}` }],
  ['max_vals', { member: 'maxVals', type: integerOf(1, 200), fallback: '4' }],
  ['self_staking_ratio', { member: 'selfStakingRatio', type: positiveRatio, fallback: '0.1' }],
  ['inflation_rate', { member: 'inflationRate', type: integerOf(0, 100), fallback: '8' }],
  ['stake_limit', { member: 'stakeLimit', type: positiveRatio, fallback: '0.12' }],
  [
    'unstake_wait_period',
    {
      member: 'unstakeWaitPeriod',
      type: integerOf(1, 10 ** 9),
      proposedType: integerOf(1000, 10 ** 9),
      fallback: '60480',
    },
  ],
  ['proposal_expire_period', { member: 'proposalExpirePeriod', type: integerOf(1, 10 ** 6), fallback: '60480' }],
  ['declare_candidacy', { member: 'declareCandidacy', type: gas, fallback: '1000000' }],
  ['update_candidacy', { member: 'updateCandidacy', type: gas, fallback: '1000000' }],
  ['governance_proposal', { member: 'governanceProposal', type: gas, fallback: '2000000' }],
  ['gas_price', { member: 'gasPrice', type: integerOf(0, 10 ** 12), fallback: '2000000000' }],
])

/**
 * The canonical text of a value of `type` (a ratio without trailing zeros, an address in lower case), or why the text is
 * none.
 */
export function canonicalText(
  type: ValueType<ParamValue>,
  text: string,
): { readonly text: string } | { readonly why: string } {
  const value = type.parse(text)
  return value === undefined
    ? { why: `expected ${type.exactForm}, got ${JSON.stringify(cut(text, 80))}` }
    : { text: type.print(value) }
}
