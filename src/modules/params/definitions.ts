import { type Address, parseAddress } from '../../base/address.ts'
import { ONE, parseDecimal, parseRatio, printRatio, type Ratio } from '../../base/amount.ts'

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

/** The grammar and range of one parameter. Source: protocol.md §6. */
export type ParameterKind =
  | { readonly kind: 'address' }
  | { readonly kind: 'ratio' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly genesisMin?: number }

/** One parameter: its place in Params, its grammar, and its text at genesis when the genesis file gives none. */
export interface Parameter {
  readonly member: keyof Params
  readonly type: ParameterKind
  readonly fallback: string
}

const integer = (min: number, max: number, genesisMin?: number): ParameterKind =>
  genesisMin === undefined ? { kind: 'integer', min, max } : { kind: 'integer', min, max, genesisMin }

/** The parameters by the interface's names, in its order. */
export const PARAMETERS: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ['hold_account', { member: 'holdAccount', type: { kind: 'address' }, fallback: `0x${'f'.repeat(40)}` }],
  ['max_vals', { member: 'maxVals', type: integer(1, 200), fallback: '4' }],
  ['self_staking_ratio', { member: 'selfStakingRatio', type: { kind: 'ratio' }, fallback: '0.1' }],
  ['inflation_rate', { member: 'inflationRate', type: integer(0, 100), fallback: '8' }],
  ['stake_limit', { member: 'stakeLimit', type: { kind: 'ratio' }, fallback: '0.12' }],
  ['unstake_wait_period', { member: 'unstakeWaitPeriod', type: integer(1000, 10 ** 9, 1), fallback: '60480' }],
  ['proposal_expire_period', { member: 'proposalExpirePeriod', type: integer(1, 10 ** 6), fallback: '60480' }],
  ['declare_candidacy', { member: 'declareCandidacy', type: integer(0, 10 ** 8), fallback: '1000000' }],
  ['update_candidacy', { member: 'updateCandidacy', type: integer(0, 10 ** 8), fallback: '1000000' }],
  ['governance_proposal', { member: 'governanceProposal', type: integer(0, 10 ** 8), fallback: '2000000' }],
  ['gas_price', { member: 'gasPrice', type: integer(0, 10 ** 12), fallback: '2000000000' }],
])

/**
 * A parameter's value in its canonical text (ratio without trailing zeros, address in lower case), or why the text is
 * none.
 */
export function canonicalValue(
  type: ParameterKind,
  text: string,
  inGenesis = false,
): { readonly text: string } | { readonly why: string } {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)
  if (type.kind === 'address') {
    const parsed = parseAddress(text)
    return parsed === undefined ? { why: `expected an address (0x and 40 hex digits), got ${shown}` } : { text: parsed }
  }
  if (type.kind === 'ratio') {
    const parsed = parseRatio(text)
    return parsed === undefined || parsed <= 0n || parsed > ONE
      ? { why: `expected a ratio above 0 and at most 1 with at most 18 decimals, got ${shown}` }
      : { text: printRatio(parsed) }
  }
  const min = inGenesis ? (type.genesisMin ?? type.min) : type.min
  const parsed = text.length <= 16 ? parseDecimal(text) : undefined
  return parsed === undefined || parsed < BigInt(min) || parsed > BigInt(type.max)
    ? { why: `expected an integer of ${min} to ${type.max}, got ${shown}` }
    : { text }
}

/** A canonical text as the state machine uses it. */
export function usedValue(type: ParameterKind, text: string): Address | Ratio | number {
  if (type.kind === 'address') return text as Address
  return type.kind === 'ratio' ? (parseRatio(text) as Ratio) : Number(text)
}
