import type { Address } from '../../base/address.ts'
import type { Ratio } from '../../base/amount.ts'
import { cut } from '../../base/json.ts'
import { address } from '../../values/account.ts'
import { integerOf, positiveRatio } from '../../values/number.ts'
import type { ValueType } from '../../values/valueType.ts'

/** A value of a parameter. */
export type ParamValue = Address | number | Ratio

/** One parameter. Source: protocol.md §6. */
export interface Parameter {
  /** The interface's name. */
  readonly name: string
  /** Its name in Params. */
  readonly member: string
  /** What genesis may give. */
  readonly type: ValueType<ParamValue>
  /** What a proposal may give, where that is less. */
  readonly proposedType?: ValueType<ParamValue>
  /** Its text at genesis when the genesis file gives none. */
  readonly fallback: string
}

const gas = integerOf(0, 10 ** 8)

/** In the interface's order. */
const definitions = [
  { name: 'hold_account', member: 'holdAccount', type: address, fallback: `0x${'f'.repeat(40)}` },
  { name: 'max_vals', member: 'maxVals', type: integerOf(1, 200), fallback: '4' },
  { name: 'self_staking_ratio', member: 'selfStakingRatio', type: positiveRatio, fallback: '0.1' },
  // Per cent a year.
  { name: 'inflation_rate', member: 'inflationRate', type: integerOf(0, 100), fallback: '8' },
  { name: 'stake_limit', member: 'stakeLimit', type: positiveRatio, fallback: '0.12' },
  {
    name: 'unstake_wait_period',
    member: 'unstakeWaitPeriod',
    type: integerOf(1, 10 ** 9),
    proposedType: integerOf(1000, 10 ** 9),
    fallback: '60480',
  },
  { name: 'proposal_expire_period', member: 'proposalExpirePeriod', type: integerOf(1, 10 ** 6), fallback: '60480' },
  { name: 'declare_candidacy', member: 'declareCandidacy', type: gas, fallback: '1000000' },
  // Of updateAccount and acceptAccountUpdate too.
  { name: 'update_candidacy', member: 'updateCandidacy', type: gas, fallback: '1000000' },
  // Of propose* and vote.
  { name: 'governance_proposal', member: 'governanceProposal', type: gas, fallback: '2000000' },
  { name: 'gas_price', member: 'gasPrice', type: integerOf(0, 10 ** 12), fallback: '2000000000' },
] as const satisfies readonly Parameter[]

type Definition = (typeof definitions)[number]

/** The system parameters as the state machine uses them. Units: periods in blocks, prices in base units a gas. */
export type Params = {
  readonly [D in Definition as D['member']]: D['type'] extends ValueType<infer Value> ? Value : never
}

/** The parameters by the interface's names, in its order. */
export const PARAMETERS: ReadonlyMap<string, Parameter> = new Map(definitions.map((one) => [one.name, one]))

/** The canonical text of a value (a ratio without trailing zeros, an address in lower case), or why there is none. */
export function canonicalText(
  type: ValueType<ParamValue>,
  text: string,
): { readonly text: string } | { readonly why: string } {
  const value = type.parse(text)
  return value === undefined
    ? { why: `expected ${type.exactForm}, got ${JSON.stringify(cut(text, 80))}` }
    : { text: type.print(value) }
}
