import { TOKEN } from '../base/amount.ts'

/** One account that a new chain starts with a candidacy of. */
export interface Founder {
  readonly owner: string
  readonly pubKey: string
  readonly name: string
}

const units = (tokens: bigint): string => (tokens * TOKEN).toString()

/**
 * `app_state` of a new chain: each account has 100,000 tokens, each founder a candidacy of 10,000,000 tokens beside its
 * balance, and the first founder is the foundation. All that is not named is the default of genesis.
 */
export const newAppState = (
  founders: readonly Founder[],
  accounts: readonly string[] = founders.map(({ owner }) => owner),
): object => ({
  accounts: accounts.map((address) => ({ address, balance: units(100_000n) })),
  stake: { foundation_address: founders[0]?.owner },
  candidacies: founders.map(({ owner, pubKey, name }) => ({
    owner,
    pub_key: pubKey,
    shares: units(10_000_000n),
    max_shares: units(100_000_000n),
    comp_rate: '0.5',
    description: { name },
  })),
})

/** Now as a genesis time, to the second. */
export const genesisTimeNow = (): string => `${new Date().toISOString().slice(0, 19)}Z`
