import { parseAddress, parseRatio, printRatio, TOKEN } from './values.ts'

/** The 11 parameters with their defaults. Source: protocol.md §6, Parameters. */
export const DEFAULT_PARAMS: Readonly<Record<string, string>> = {
  hold_account: `0x${'ff'.repeat(20)}`,
  max_vals: '4',
  self_staking_ratio: '0.1',
  inflation_rate: '8',
  stake_limit: '0.12',
  unstake_wait_period: '60480',
  proposal_expire_period: '60480',
  declare_candidacy: '1000000',
  update_candidacy: '1000000',
  governance_proposal: '2000000',
  gas_price: '2000000000',
}

const RANGES: Readonly<Record<string, readonly [min: number, max: number]>> = {
  max_vals: [1, 200],
  inflation_rate: [0, 100],
  unstake_wait_period: [1_000, 10 ** 9],
  proposal_expire_period: [1, 1_000_000],
  declare_candidacy: [0, 10 ** 8],
  update_candidacy: [0, 10 ** 8],
  governance_proposal: [0, 10 ** 8],
  gas_price: [0, 10 ** 12],
}

/**
 * The canonical text of a value, undefined where there is no such parameter or the value is not in its grammar or range.
 * `waitMin`: genesis allows a shorter unstake_wait_period than a proposal.
 */
export function canonicalParam(name: string, value: string, waitMin = 1_000): string | undefined {
  if (name === 'hold_account') return parseAddress(value)
  if (name === 'self_staking_ratio' || name === 'stake_limit') {
    const ratio = parseRatio(value)
    return ratio !== undefined && ratio > 0n && ratio <= TOKEN ? printRatio(ratio) : undefined
  }
  const range = Object.hasOwn(RANGES, name) ? RANGES[name] : undefined
  if (range === undefined || !/^(0|[1-9][0-9]*)$/.test(value)) return undefined
  const [min, max] = range
  const number = BigInt(value)
  return number >= BigInt(name === 'unstake_wait_period' ? waitMin : min) && number <= BigInt(max) ? value : undefined
}
