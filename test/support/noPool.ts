/** What a candidacy to which nobody has delegated has in its columns of the pool. */
export const NO_POOL = {
  delegated: 0n,
  delegationUnits: 0n,
  pool: 0,
  delegators: 0,
  nextCompRate: 0n,
  nextCompRateHeight: 0,
} as const
