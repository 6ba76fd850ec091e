import { type Address, address } from '../../values/address.ts'
import type { Ratio } from '../../base/amount.ts'
import { cut } from '../../base/json.ts'
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
  /** What its value counts; empty for an address. */
  readonly unit: string
  /** What it decides, in a sentence. */
  readonly doc: string
}

const gas = integerOf(0, 10 ** 8)

/** In the interface's order. */
const definitions = [
  {
    name: 'hold_account',
    member: 'holdAccount',
    type: address,
    fallback: `0x${'f'.repeat(40)}`,
    unit: '',
    doc: 'The account that receives all fees. Proposals may pay from it.',
  },
  {
    name: 'max_vals',
    member: 'maxVals',
    type: integerOf(1, 200),
    fallback: '4',
    unit: 'validators',
    doc: 'The most validators there may be at a time.',
  },
  {
    name: 'self_staking_ratio',
    member: 'selfStakingRatio',
    type: positiveRatio,
    fallback: '0.1',
    unit: 'of max_shares',
    doc: 'The part of its max_shares that an owner stakes when it declares a candidacy.',
  },
  {
    name: 'inflation_rate',
    member: 'inflationRate',
    type: integerOf(0, 100),
    fallback: '8',
    unit: 'per cent a year',
    doc: 'The part of the supply that validators are awarded in a year.',
  },
  {
    name: 'stake_limit',
    member: 'stakeLimit',
    type: positiveRatio,
    fallback: '0.12',
    unit: "of the set's shares",
    doc: "The part of the set's shares up to which the shares of one validator count, or an equal part of them where that is more.",
  },
  {
    name: 'unstake_wait_period',
    member: 'unstakeWaitPeriod',
    type: integerOf(1, 10 ** 9),
    proposedType: integerOf(1000, 10 ** 9),
    fallback: '60480',
    unit: 'blocks',
    doc: 'How long the shares of a withdrawn candidacy unbond before they are paid out.',
  },
  {
    name: 'proposal_expire_period',
    member: 'proposalExpirePeriod',
    type: integerOf(1, 10 ** 6),
    fallback: '60480',
    unit: 'blocks',
    doc: 'How long a proposal is open that names no end of its own.',
  },
  {
    name: 'declare_candidacy',
    member: 'declareCandidacy',
    type: gas,
    fallback: '1000000',
    unit: 'gas',
    doc: 'The gas of declaring a candidacy.',
  },
  {
    name: 'update_candidacy',
    member: 'updateCandidacy',
    type: gas,
    fallback: '1000000',
    unit: 'gas',
    doc: 'The gas of updating a candidacy, and of each of the two steps that hand one over.',
  },
  {
    name: 'governance_proposal',
    member: 'governanceProposal',
    type: gas,
    fallback: '2000000',
    unit: 'gas',
    doc: 'The gas of a proposal, and of a vote.',
  },
  {
    name: 'gas_price',
    member: 'gasPrice',
    type: integerOf(0, 10 ** 12),
    fallback: '2000000000',
    unit: 'base units a gas',
    doc: 'The price of one gas. A fee is the gas of an operation times this price.',
  },
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
